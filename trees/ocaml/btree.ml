(* Binary trees on OCaml's collector. A constructor without arguments takes no memory: a leaf is a node
   of two words as everywhere, whose children are Empty. *)

let min_depth = 4
let default_depth = 10

type tree = Empty | Node of tree * tree

(* Of two constants the compiler would make one leaf in static data, for all trees. *)
let leaf () = Node (Sys.opaque_identity Empty, Empty)

let rec make depth = if depth = 0 then leaf () else Node (make (depth - 1), make (depth - 1))

let rec count = function Empty -> 0 | Node (left, right) -> 1 + count left + count right

let trees_of_depth depth trees =
  let check = ref 0 in
  for _ = 1 to trees do
    check := !check + count (make depth)
  done;
  Printf.printf "%d\t trees of depth %d\t check: %d\n" trees depth !check

let tell_collections () =
  let stat = Gc.quick_stat () in
  Printf.eprintf "heapwise-trees: collections=%d\n" (stat.minor_collections + stat.major_collections)

let () =
  let asked = if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else default_depth in
  let depth = max asked (min_depth + 2) in
  Printf.printf "stretch tree of depth %d\t check: %d\n" (depth + 1) (count (make (depth + 1)));
  let long_lived = make depth in
  let rec even d =
    if d <= depth then begin
      trees_of_depth d (1 lsl (depth - d + min_depth));
      even (d + 2)
    end
  in
  even min_depth;
  Printf.printf "long lived tree of depth %d\t check: %d\n" depth (count long_lived);
  tell_collections ()

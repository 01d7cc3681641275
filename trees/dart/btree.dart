// Binary trees on the collector of the Dart virtual machine.
import 'dart:math';

const minDepth = 4;
const defaultDepth = 10;

class Tree {
  final Tree? left, right;

  Tree(this.left, this.right);

  int count() {
    final left = this.left, right = this.right;
    return left == null || right == null ? 1 : 1 + left.count() + right.count();
  }
}

Tree make(int depth) =>
    depth == 0 ? Tree(null, null) : Tree(make(depth - 1), make(depth - 1));

void treesOfDepth(int depth, int trees) {
  var check = 0;
  for (var i = 0; i < trees; i++) {
    check += make(depth).count();
  }
  print('$trees\t trees of depth $depth\t check: $check');
}

void main(List<String> arguments) {
  final asked = arguments.isEmpty ? defaultDepth : int.parse(arguments[0]);
  final depth = max(asked, minDepth + 2);

  print('stretch tree of depth ${depth + 1}\t check: ${make(depth + 1).count()}');
  final longLived = make(depth);
  for (var d = minDepth; d <= depth; d += 2) {
    treesOfDepth(d, 1 << (depth - d + minDepth));
  }
  print('long lived tree of depth $depth\t check: ${longLived.count()}');
}

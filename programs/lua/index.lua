-- Builds trees of words from a text, changes them, and walks them.
local function insert(tree, word, line)
  if tree == nil then return { word = word, lines = { line } } end
  if word == tree.word then
    tree.lines[#tree.lines + 1] = line
  elseif word < tree.word then
    tree.left = insert(tree.left, word, line)
  else
    tree.right = insert(tree.right, word, line)
  end
  return tree
end

local function walk(tree, visit)
  if tree == nil then return end
  walk(tree.left, visit)
  visit(tree)
  walk(tree.right, visit)
end

local tree, number, reversed = nil, 0, {}
for line in io.lines() do
  number = number + 1
  for word in line:gmatch("%a+") do tree = insert(tree, word, number) end
  reversed[number] = line:reverse():upper()
end
local words, occurrences, letters = 0, 0, 0
walk(tree, function(node)
  words = words + 1
  occurrences = occurrences + #node.lines
  letters = letters + #table.concat(node.lines, ",")
  if words % 1000 == 0 then print(node.word, #node.lines) end
end)
table.sort(reversed)
print(words, occurrences, letters, #table.concat(reversed, "\n"), reversed[1])

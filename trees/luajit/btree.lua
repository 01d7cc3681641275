-- Binary trees on the collector of LuaJIT.
local min_depth = 4

local function make(depth)
  if depth == 0 then
    return {}
  end
  local left, right = make(depth - 1), make(depth - 1)
  return { left, right }
end

local function count(tree)
  if not tree[1] then
    return 1
  end
  return 1 + count(tree[1]) + count(tree[2])
end

local depth = math.max(tonumber(arg[1]) or 10, min_depth + 2)
print(("stretch tree of depth %d\t check: %d"):format(depth + 1, count(make(depth + 1))))
local long_lived = make(depth)
for d = min_depth, depth, 2 do
  local trees, check = 2 ^ (depth - d + min_depth), 0
  for _ = 1, trees do
    check = check + count(make(d))
  end
  print(("%d\t trees of depth %d\t check: %d"):format(trees, d, check))
end
print(("long lived tree of depth %d\t check: %d"):format(depth, count(long_lived)))

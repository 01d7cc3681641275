-- sysbench load.lua --port=PORT: each request is a pipeline of sixteen sets and sixteen gets.
package.path = package.path .. ";" .. debug.getinfo(1, "S").source:match("^@(.*/)") ..
  "../sysbench/?.lua"
local requests = require("requests")

sysbench.cmdline.options = {port = {"port of the server", 6379}}

local KEYS, PAIRS, BATCH = 100000, 16, 16
local SIZES, STEP = 16, 64 -- values of 64 to 1,024 bytes
local connection, sets, gets, sizes, heads

local function set(key)
  local class = sysbench.rand.uniform(1, SIZES)
  sizes[key] = class
  connection.add(sets[key])
  connection.add(heads[class])
  connection.add_value(class * STEP)
  connection.add("\r\n")
end

-- Each thread has keys of its own, so it knows how long the answers are.
function thread_init()
  connection = requests.connect(sysbench.opt.port, 65536)
  sets, gets, sizes, heads = {}, {}, {}, {}
  for class = 1, SIZES do heads[class] = "$" .. class * STEP .. "\r\n" end
  local keys = math.floor(KEYS / sysbench.opt.threads)
  for key = 1, keys do
    local name = string.format("$10\r\nkey:%06d\r\n", sysbench.tid * keys + key)
    sets[key] = "*3\r\n$3\r\nSET\r\n" .. name
    gets[key] = "*2\r\n$3\r\nGET\r\n" .. name
  end
  for first = 1, keys, BATCH do
    local last = math.min(keys, first + BATCH - 1)
    for key = first, last do set(key) end
    connection.ask(5 * (last - first + 1), "+OK\r\n", "+OK\r\n")
  end
end

function event()
  local length = 0
  for _ = 1, PAIRS do
    set(sysbench.rand.uniform(1, #sets))
    length = length + 5 -- +OK
  end
  for _ = 1, PAIRS do
    local key = sysbench.rand.uniform(1, #gets)
    connection.add(gets[key])
    local class = sizes[key]
    length = length + #heads[class] + class * STEP + 2
  end
  connection.ask(length, "+OK\r\n", "x\r\n")
end

function thread_done() connection.close() end

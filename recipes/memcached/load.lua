-- sysbench load.lua --port=PORT: each request is a pipeline of sixteen sets and one get of sixteen
-- keys, in memcached's text protocol.
package.path = package.path .. ";" .. debug.getinfo(1, "S").source:match("^@(.*/)") ..
  "../sysbench/?.lua"
local requests = require("requests")

sysbench.cmdline.options = {port = {"port of the server", 11211}}

local KEYS, SETS, GETS, BATCH = 100000, 16, 16, 16
local SIZES, STEP = 16, 64 -- values of 64 to 1,024 bytes
local STORED, END = "STORED\r\n", "END\r\n"
local connection, names, sizes, heads

local function set(key)
  local class = sysbench.rand.uniform(1, SIZES)
  sizes[key] = class
  connection.add("set")
  connection.add(names[key])
  connection.add(heads[class])
  connection.add_value(class * STEP)
  connection.add("\r\n")
end

-- Each thread has keys of its own, so it knows how long the answers are.
function thread_init()
  connection = requests.connect(sysbench.opt.port, 65536)
  names, sizes, heads = {}, {}, {}
  for class = 1, SIZES do heads[class] = " 0 0 " .. class * STEP .. "\r\n" end
  local keys = math.floor(KEYS / sysbench.opt.threads)
  for key = 1, keys do names[key] = string.format(" key:%06d", sysbench.tid * keys + key) end
  for first = 1, keys, BATCH do
    local last = math.min(keys, first + BATCH - 1)
    for key = first, last do set(key) end
    connection.ask(#STORED * (last - first + 1), STORED, STORED)
  end
end

function event()
  for _ = 1, SETS do set(sysbench.rand.uniform(1, #names)) end
  local length = #STORED * SETS + #END
  connection.add("get")
  for _ = 1, GETS do
    local key = sysbench.rand.uniform(1, #names)
    connection.add(names[key])
    local size = sizes[key] * STEP
    -- "VALUE key:000001 0 64\r\n", where the size has as many figures as it has.
    length = length + #"VALUE" + #names[key] + #" 0 " + #tostring(size) + #"\r\n" + size + #"\r\n"
  end
  connection.add("\r\n")
  connection.ask(length, STORED, END)
end

function thread_done() connection.close() end

-- sysbench load.lua --port=PORT: each request is a picture, and its answer a class.
package.path = package.path .. ";" .. debug.getinfo(1, "S").source:match("^@(.*/)") ..
  "../sysbench/?.lua"
local requests = require("requests")

sysbench.cmdline.options = {port = {"port of the server", 80}}

local PICTURE = 784
local HEAD = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " .. PICTURE .. "\r\n"
local MOST = 4096
local connection, length

-- Each answer has the same length: the class is one digit, and the share has six.
function thread_init()
  length = requests.length_of_answer(sysbench.opt.port,
    HEAD .. "Connection: close\r\n\r\n" .. string.rep("x", PICTURE), MOST)
  connection = requests.connect(sysbench.opt.port, MOST)
end

function event()
  connection.add(HEAD .. "\r\n")
  connection.add_value(PICTURE)
  connection.ask(length, "HTTP/1.1 200 OK\r\n", "}\n")
end

function thread_done() connection.close() end

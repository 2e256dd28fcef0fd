/**
 * The first program in a machine: it joins the two sockets of the machine with what is inside, and becomes the worker, in the same process.
 * A machine has no network but these: `agent.sock`, by which the worker is asked, and `host.sock`, by which it asks its host.
 *
 *   node inside.js <agent.sock> <host.sock> <agent port> <host port> <program> <arguments of the program…>
 *
 * What comes by `agent.sock` is given to the server of the worker as it is: a way over loopback to itself would cost the worker more than
 * the deltas that go it.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { Server } from 'node:net'
import { pathToFileURL } from 'node:url'
import { accept, forward } from './forward.js'

const [node = '', , agentSocket = '', hostSocket = '', agentPort = '', hostPort = '', program = '', ...args] = process.argv

/** The server that listens at the port of the agent, once it does. */
let agent: Server | undefined
const { listen } = Server.prototype
Server.prototype.listen = function (this: Server, ...asked: unknown[]): Server {
  const [first] = asked
  const port = typeof first === 'object' && first !== null && 'port' in first ? first.port : first
  const server = Reflect.apply(listen, this, asked) as Server
  if (port === Number(agentPort)) agent = server
  return server
}

// Of the machine before this one, that was killed.
rmSync(agentSocket, { force: true })
await accept({ path: agentSocket }, (socket) => {
  if (agent?.listening === true) agent.emit('connection', socket)
  else socket.destroy()
})
await forward({ port: Number(hostPort), host: '127.0.0.1' }, [{ path: hostSocket }])

mkdirSync(process.env['HOME'] ?? '', { recursive: true, mode: 0o700 })
process.argv = [node, program, ...args]
await import(pathToFileURL(program).href)

/**
 * The first program in a machine: it joins the two sockets of the machine with loopback inside, and becomes the worker, in the same process.
 * A machine has no network but these: `agent.sock`, by which the worker is asked, and `host.sock`, by which it asks its host.
 *
 *   node inside.js <agent.sock> <host.sock> <agent port> <host port> <program> <arguments of the program…>
 */
import { mkdirSync, rmSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { forward } from './forward.js'

const [node = '', , agentSocket = '', hostSocket = '', agentPort = '', hostPort = '', program = '', ...args] = process.argv

// Of the machine before this one, that was killed.
rmSync(agentSocket, { force: true })
await forward({ path: agentSocket }, [{ port: Number(agentPort), host: '127.0.0.1' }])
await forward({ port: Number(hostPort), host: '127.0.0.1' }, [{ path: hostSocket }])

mkdirSync(process.env['HOME'] ?? '', { recursive: true, mode: 0o700 })
process.argv = [node, program, ...args]
await import(pathToFileURL(program).href)

/**
 * The first program in a machine that is reached by https: it takes off TLS, and becomes the worker, in the same process.
 *
 *   node inside-tls.js <certificate> <key> <program> <arguments of the program…>
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createServer } from 'node:tls'
import { pathToFileURL } from 'node:url'
import { join } from './forward.js'
import { AGENT_PORT, TLS_PORT } from './ports.js'

const [node = '', , certificate = '', key = '', program = '', ...args] = process.argv

createServer({ cert: readFileSync(certificate), key: readFileSync(key), minVersion: 'TLSv1.3' }, (socket) => {
  join(socket, connect({ port: AGENT_PORT, host: '127.0.0.1', noDelay: true }))
})
  .listen(TLS_PORT)
  .unref()

mkdirSync(process.env['HOME'] ?? '', { recursive: true, mode: 0o700 })
process.argv = [node, program, ...args]
await import(pathToFileURL(program).href)

/** Asks one question in the current directory and prints the answer as it comes: node ask.mjs "what is in this folder?" */
import { createClient } from 'svc/client'

const client = createClient({
  baseUrl: process.env.SVC_URL ?? 'http://127.0.0.1:4096',
  token: process.env.SVC_AGENT_TOKEN,
  directory: process.cwd(),
})

const prompt = process.argv.slice(2).join(' ')
if (prompt === '') throw new Error('usage: node ask.mjs <prompt>')

// Ctrl-C ends the run on the server; a second one ends this program.
const stop = new AbortController()
process.once('SIGINT', () => stop.abort())

const session = await client.sessions.create()
const run = client.prompt(session.id, prompt, {
  signal: stop.signal,
  // Looking is fine, everything else is not.
  onPermission: ({ permission }) => (['read', 'glob', 'grep'].includes(permission) ? 'once' : 'reject'),
  onQuestion: () => 'reject',
})

for await (const event of run) {
  if (event.type === 'text') process.stdout.write(event.delta)
  if (event.type === 'tool' && event.part.state.status === 'completed') process.stderr.write(`[${event.part.state.title}]\n`)
  if (event.type === 'end') {
    process.stdout.write('\n')
    if (event.error !== undefined) process.stderr.write(`error: ${event.error.message}\n`)
    process.exitCode = event.error === undefined ? 0 : 1
  }
}

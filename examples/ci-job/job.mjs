/** Runs the prompt of a file with fixed permissions and fails unless everything went well: node job.mjs prompt.md */
import { readFile } from 'node:fs/promises'
import { createClient, SvcClientError } from 'svc/client'

/** What the job may do; the last rule that fits decides. Nobody is there to be asked. */
const PERMISSION = [
  { permission: '*', pattern: '*', action: 'deny' },
  { permission: 'read', pattern: '*', action: 'allow' },
  { permission: 'glob', pattern: '*', action: 'allow' },
  { permission: 'grep', pattern: '*', action: 'allow' },
  // The tool `write` is offered, and asks as `edit` for every file.
  { permission: 'write', pattern: '*', action: 'allow' },
  { permission: 'edit', pattern: 'CHANGES.md', action: 'allow' },
]
const MINUTES = 10

const client = createClient({
  baseUrl: process.env.SVC_URL ?? 'http://127.0.0.1:4096',
  token: process.env.SVC_AGENT_TOKEN,
  directory: process.cwd(),
})

/** Sentences that say what went wrong; none when all is well. */
async function job(prompt) {
  const problems = []
  const session = await client.sessions.create({ body: { title: 'CI job', permission: PERMISSION } })
  const run = client.prompt(session.id, prompt, {
    signal: AbortSignal.timeout(MINUTES * 60_000),
    onPermission: ({ title }) => {
      problems.push(`it asked for more than it may do: ${title}`)
      return 'reject'
    },
    onQuestion: () => 'reject',
  })
  const calls = new Map()
  for await (const event of run) {
    if (event.type === 'tool') calls.set(event.part.id, event.part)
    if (event.type === 'end') {
      process.stdout.write(`${event.text}\n`)
      if (event.error !== undefined) problems.push(event.error.message)
    }
  }
  for (const { tool, state } of calls.values()) if (state.status === 'error') problems.push(`${tool}: ${state.error}`)
  return problems
}

try {
  const problems = await job(await readFile(process.argv[2] ?? 'prompt.md', 'utf8'))
  for (const problem of problems) process.stderr.write(`error: ${problem}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
} catch (error) {
  const code = error instanceof SvcClientError ? ` (${error.code})` : ''
  process.stderr.write(`error: ${error.message}${code}\n`)
  process.exitCode = 1
}

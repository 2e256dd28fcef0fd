/** The tools `background_task` and `background_task_result` (sessions-events §10.4, §10.6). */
import * as z from 'zod'
import { defineTool, type ToolContribution, ToolError } from '../../../ports/plugin.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Commands } from '../run/commands.js'
import { lineOf, reportOf } from './job-texts.js'
import type { Jobs } from './jobs.js'
import { isOpen, type Job } from './ledger.js'

const { timeout: TIMEOUT, timeoutMost, outputBytes, outputBytesMost, description: DESCRIPTION_LENGTH } = LIMITS.jobs

const Input = z.strictObject({
  description: z.string().min(1).max(DESCRIPTION_LENGTH).describe('What the command does, in five to ten words.'),
  command: z.string().min(1).max(100_000).describe('The command line, for bash.'),
  cwd: z.string().min(1).max(4096).optional().describe('Directory to run in: absolute, or relative to the session directory.'),
  timeout: z.number().int().min(1).max(timeoutMost).optional().describe(`Milliseconds until it is stopped. Default ${TIMEOUT}.`),
  outputLimit: z
    .number()
    .int()
    .min(1024)
    .max(outputBytesMost)
    .optional()
    .describe(`Bytes that are kept of the latest output of each stream. Default ${outputBytes}.`),
  network: z
    .boolean()
    .optional()
    .describe('Where commands run in a sandbox: whether this one needs the network, which may have to be asked for.'),
})
type Input = z.infer<typeof Input>

const START = `Starts a command line in the background and returns at once: servers, watchers, long builds and tests.
- It runs as a command of "bash" does, and goes on while you work. You are told once when it has ended, with its output: do not wait, do not poll.
- "background_task_result" shows what it has printed so far. Standard input is closed.`

const RESULT =
  'Shows what a command in the background has printed, or lists those of this session without an id. You are told of every one that ends; there is no need to ask.'

const One = z.strictObject({ job_id: z.string().max(100).optional() })

export function jobTools({ jobs, commands }: { readonly jobs: Jobs; readonly commands: Commands }): readonly ToolContribution[] {
  const commandOf = ({ command, cwd: workdir, network }: Input) => ({ command, workdir, network })
  const start = defineTool<Input>({
    id: 'background_task',
    description: START,
    input: Input,
    permission: 'bash',
    needs: (input, context) => commands.needs(commandOf(input), context),
    async invoke(input, context) {
      const ready = await commands.ready(commandOf(input), context)
      context.signal.throwIfAborted()
      const { description, command, timeout: timeoutMs = TIMEOUT, outputLimit: outputLimitBytes = outputBytes } = input
      const status = jobs.areFull() ? 'queued' : 'running'
      const job = asToolError(() => jobs.start({ ready, description, command, timeoutMs, outputLimitBytes }, context))
      const output = `job_id: ${job.id}\nstatus: ${status}\nIt runs in the background. You are told when it has ended: go on with other work, or end your answer now.`
      return { title: description, output, metadata: { ...shown(job), status } }
    },
  })
  const result = defineTool<z.infer<typeof One>>({
    id: 'background_task_result',
    description: RESULT,
    input: One,
    permission: 'background_task_result',
    needs: async () => [{ permission: 'background_task_result', patterns: ['*'], title: 'Look at commands in the background' }],
    async invoke({ job_id: id }, { sessionId }) {
      if (id === undefined) {
        const all = jobs.of(sessionId)
        const output = all.map(lineOf).join('\n') || 'No command was started in the background.'
        return { title: `${all.length} commands`, output, metadata: { jobs: all.map(shown) } }
      }
      const job = jobs.find(sessionId, id)
      if (job === undefined) throw new ToolError(`There is no job "${id}" of this session. Without an id, those there are are listed.`)
      const live = isOpen(job) ? jobs.output(id) : undefined
      const now = live === undefined ? job : { ...job, outputTruncated: live.isCut }
      return { title: job.description, output: reportOf(now, live?.text), metadata: shown(now) }
    },
  })
  return [start, result]
}

/** As clients are shown it; the output stands in the result. */
function shown(job: Job) {
  const { id: jobId, status, description, command, cwd, startedAt, finishedAt, exitCode, outputPath } = job
  const end = { ...(finishedAt !== undefined && { finishedAt }), ...(exitCode !== undefined && { exitCode }) }
  return { jobId, status, description, command, cwd, startedAt, ...end, ...(outputPath !== undefined && { outputPath }) }
}

function asToolError<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw error instanceof SvcError ? new ToolError(error.message) : error
  }
}

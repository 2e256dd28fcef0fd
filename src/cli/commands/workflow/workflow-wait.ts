/** `svc workflow run --wait`: a run to its end, and what was refused in it. */
import type { Client } from '../../../published/client/client-types.js'
import type { WorkflowRun } from '../../../protocol/workflow/workflow.js'
import { formatUtc } from '../../../machines/workflows/schedule/zone.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { refusalText } from '../../answers/answers.js'
import { eventHints } from '../../event-hints.js'
import { watchInterrupts } from '../../terminal/interruption.js'
import { jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { NowOptions } from './workflow-arguments.js'
import { words } from './runs-table.js'
import type { WorkflowServer } from './workflow-server.js'

const isHint = (type: string) => type === 'workflow.run.updated'
const GOES_ON: ReadonlySet<WorkflowRun['status']> = new Set(['queued', 'running'])
const FAILED = 1
const REFUSED = 3
const INTERRUPTED = 130

/** Answers 0 when it is completed, 1 when it is not, 3 when it went on without something that was refused, 130 when it was left. */
export async function waitForRun({ client, open, directory }: WorkflowServer, { id: workflowId, json }: NowOptions): Promise<number> {
  const at = { workflowId, directory }
  const { workflows } = client.plugins
  const { signal, forget } = watchInterrupts(() => undefined)
  let run: WorkflowRun | undefined
  try {
    for await (const _ of eventHints(open, isHint, signal)) {
      run = run === undefined ? await workflows.run(at) : await workflows.runs.get({ ...at, runId: run.id })
      if (!GOES_ON.has(run.status)) return await told(client, run, json)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    forget()
  }
  writeError(`svc: left; ${run?.id ?? 'the run'} goes on: svc workflow runs ${workflowId}\n`)
  return INTERRUPTED
}

async function told(client: Client, run: WorkflowRun, json: boolean): Promise<number> {
  const denied = await deniedIn(client, run)
  const { refused = [], status, error, nextAttemptAt, sessionId } = run
  const exitCode = status !== 'completed' ? FAILED : refused.length + denied.length > 0 ? REFUSED : 0
  if (json) {
    writeOut(`${jsonText({ ...run, denied, exitCode }, 2)}\n`)
    return exitCode
  }
  const again = nextAttemptAt == null ? '' : `, tried again at ${formatUtc(nextAttemptAt)}`
  writeOut(`${run.id} is ${words(status)}${again}${sessionId == null ? '' : `; svc session show ${sessionId}`}\n`)
  if (error != null) writeError(`svc: ${printable(error)}\n`)
  for (const each of refused) writeError(`svc: refused, because nobody answered: ${refusalText(each)}\n`)
  for (const { tool, message } of denied)
    writeError(`svc: refused: ${printable(tool)}: ${printable(message.replace(/ Available tools: .*$/s, ''))}\n`)
  return exitCode
}

interface Denied {
  readonly tool: string
  readonly message: string
}

/** Calls that a rule has denied, or whose tool was not offered: the run goes on without them, and ends as completed. */
async function deniedIn(client: Client, { sessionId }: WorkflowRun): Promise<readonly Denied[]> {
  if (sessionId == null) return []
  const messages = await client.sessions.context({ sessionId }).catch(() => [])
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === 'tool' && part.state.status === 'error' && DENIED.test(part.state.error)
        ? [{ tool: part.tool, message: part.state.error }]
        : [],
    ),
  )
}

const DENIED = /^(?:A permission rule denies |There is no tool ")/

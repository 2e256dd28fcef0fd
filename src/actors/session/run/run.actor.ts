/** The run machine and its tool calls with their effects (laws §4–5). Decides nothing. */
import type { Passing } from '../../../kernel/passing.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { fromEffect, fromWork } from '../../../kernel/machine/effect.js'
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { Stoppable } from '../../../kernel/stopping.js'
import { runMachine } from '../../../machines/session/run.machine.js'
import { type ToolCallInput, toolCallMachine } from '../../../machines/session/tool-call.machine.js'
import type { StepFailure } from '../../../machines/session/retry.js'
import { stepFailure } from '../../provider/failure.js'
import { askCall } from './asking.js'
import { executeCall, refuseCall } from './executing.js'
import { judgeCall } from './judging.js'
import { announceAttempt, announceRetry, closeStep, endStreaming, recordEnd } from './closing.js'
import type { Rows, Work, Sources } from '../state/core.js'
import { compactionLogic } from '../compaction/compaction.actor.js'
import type { Compactions } from '../compaction/compactions.js'
import type { OpenCall, RunScope } from './run-scope.js'
import { hookAnswer } from './answer-hook.js'
import { prepareStep, streamStep } from './step/step.js'
import type { SystemContext } from './system-context.js'

/** Scopes of the runs under way, by run id. */
export type Runs = Passing<string, RunScope>

export function runLogic(core: Rows & Work & Sources, context: SystemContext, runs: Runs, compactions: Compactions) {
  function runOf(runId: string): RunScope {
    const run = runs.get(runId)
    if (run === undefined) throw new Error(`run ${runId} is not under way`)
    return run
  }

  function callOf({ runId, callId }: ToolCallInput): { run: RunScope; call: OpenCall } {
    const run = runOf(runId)
    const call = run.calls.get(callId)
    if (call === undefined) throw new Error(`call ${callId} is not open`)
    return { run, call }
  }

  const toolCall = chartOf(toolCallMachine).provide({
    actors: {
      judge: fromEffect((given) => {
        const { run, call } = callOf(given.input)
        return judgeCall(core, run, call, given)
      }),
      ask: fromEffect(({ input, signal }) => {
        const { run, call } = callOf(input)
        return askCall(core, run, call, signal)
      }),
      execute: fromWork<{ type: 'abort' }, ToolCallInput>(({ input, receive, sendBack }) => {
        const { run, call } = callOf(input)
        const work = new Stoppable()
        const stop = () => work.stop()
        receive(stop)
        void executeCall(core, run, call, work).then((end) => {
          work.over()
          sendBack({ type: 'execution.settled', end })
        })
        return stop
      }),
      refuse: fromEffect(({ input }) => {
        const { run, call } = callOf(input)
        refuseCall(core, run, call, input)
      }),
    },
  })

  const logic = chartOf(runMachine).provide({
    actors: {
      toolCall: laidOut(toolCall),
      prepare: fromEffect((given) => {
        const run = runOf(given.input.runId)
        const { prepared } = run.place
        run.place.prepared = undefined
        const preparing = prepared?.take(given) ?? prepareStep(core, context, run, given.input, given)
        return preparing.catch((error: unknown) => {
          if (!given.isStopped)
            core.effects.log.error('a step could not be prepared', { sessionId: run.session.id, runId: run.runId, cause: causeOf(error) })
          throw error
        })
      }),
      generate: fromWork<{ type: string }, { runId: string; attempt: number }>(({ input, sendBack }) => {
        const run = runOf(input.runId)
        const { step, sent } = run.place
        if (step === undefined) throw new Error('no step is prepared')
        run.place.sent = undefined
        const work = sent?.work ?? new Stoppable()
        if (input.attempt > 0) announceAttempt(core, run)
        const onCall = (callId: string) => {
          const tool = run.calls.get(callId)?.tool
          if (tool !== undefined)
            core.callNames.note(run.runId, callId, { sessionId: run.session.id, tool: tool.contribution.id, pluginId: tool.pluginId })
          sendBack({ type: 'tool.called', callId })
        }
        const end = (event: { readonly type: string; readonly failure?: StepFailure }): void => {
          work.over()
          sendBack(event)
        }
        streamStep(core, run, step, { attempt: input.attempt, sent, onCall, work })
          .then(() => hookAnswer(core, step, work))
          .then(
            () => end({ type: 'generation.finished' }),
            (error: unknown) => end({ type: 'generation.failed', failure: stepFailure(error) }),
          )
        return () => work.stop()
      }),
      compaction: compactionLogic(core, compactions.scopeOf),
      closeStep: fromEffect(({ input: { runId, step, ...rest } }) => {
        const run = runOf(runId)
        return withoutManyCalls(run, () => closeStep(core, run, { number: step, ...rest }))
      }),
      endStreaming: fromEffect(({ input: { runId } }) => endStreaming(core, runOf(runId))),
      announceRetry: fromEffect(({ input }) => announceRetry(core, runOf(input.runId), input)),
      recordEnd: fromEffect(({ input: { runId, answers, failure } }) => {
        const run = runOf(runId)
        return withoutManyCalls(run, () => recordEnd(core, { run, compaction: compactions.latest(run), answers }, failure))
      }),
    },
  })
  return laidOut(logic)
}

/** Closes a step, at once where its open calls belong into that commit. */
function withoutManyCalls<T>({ place: { step } }: RunScope, close: () => T): T | Promise<T> {
  const closing = step?.recorder.closeMany()
  return closing === undefined ? close() : closing.then(close)
}

function causeOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

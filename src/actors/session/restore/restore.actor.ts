/** The restore machine with its effects. Decides nothing. */
import { laidOut } from '../../../kernel/machine/laid-out.js'
import { chartOf } from '../../../kernel/machine/chart.js'
import { fromPromise } from 'xstate'
import { restoreMachine, type RestoreInput } from '../../../machines/session/restore.machine.js'
import { boundaryOf, changesOf, isBefore, partsBetween } from '../../../machines/session/undo/history.js'
import { type FilePlan, type FileStep, isKept, isSameState, planFiles } from '../../../machines/session/undo/plan.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { FileSnapshot } from '../../../protocol/session/snapshot.js'
import type { Message } from '../../../protocol/message/message.js'
import type { HistoryMove } from '../../../store/store.js'
import { changed, inTurns, linked, told } from './file-states.js'
import type { RestoreCore } from './restore-core.js'
import { recordMove, takeBackMove } from './moved-history.js'
import { inSlices, outlineOf } from '../state/slices.js'

/** A restore under way; `problem` = the first failure. */
export interface Restoring {
  readonly sessionId: string
  readonly move: HistoryMove
  /** The history, which nobody changes meanwhile, once it was read. */
  history?: Promise<readonly Message[]>
  problem: unknown
}

export function restoreLogic(core: RestoreCore, under: ReadonlyMap<string, Restoring>) {
  const { store, journal, effects, fileStates } = core

  const effect = (work: (restoring: Restoring) => unknown) =>
    fromPromise<void, RestoreInput>(async ({ input: { sessionId } }) => {
      const restoring = known(sessionId)
      try {
        await work(restoring)
      } catch (error) {
        restoring.problem ??= error
        effects.log.debug('a step of a restore failed', { sessionId, cause: String(error) })
        throw error
      }
    })

  function known(sessionId: string): Restoring {
    const restoring = under.get(sessionId)
    if (restoring === undefined) throw new Error(`no restore of ${sessionId} is under way`)
    return restoring
  }

  function historyOf(restoring: Restoring): Promise<readonly Message[]> {
    restoring.history ??= outlineOf(core.store, restoring.sessionId)
    return restoring.history
  }

  async function planOf(restoring: Restoring) {
    const { directory } = core.sessionOf(restoring.sessionId)
    return { directory, ...(await inSlices(planMove(await historyOf(restoring), restoring.move, directory))) }
  }

  /** Old and new states of all files, which were checked before they were noted. */
  async function filesOf(restoring: Restoring) {
    const { directory, files } = await planOf(restoring)
    return { directory, files, back: files.map(({ path, from, to }): FileStep => ({ path, from: to, to: from })) }
  }

  async function check(restoring: Restoring): Promise<void> {
    const { files, conflicts, unkept } = await planOf(restoring)
    if (unkept.length > 0) throw notKept(unkept)
    if (files.length > LIMITS.undo.files)
      throw new SvcError('request.unprocessable', `At most ${LIMITS.undo.files} files are restored at once; these are ${files.length}.`)
    await core.bounds(
      core.sessionOf(restoring.sessionId),
      files.map(({ path }) => path),
    )
    const others = new Set(conflicts)
    const behindLinks: string[] = []
    const lost: Unkept[] = []
    await inTurns(files, async ({ path, from, to }) => {
      if (!(await fileStates.isKept(from)) || !(await fileStates.isKept(to)))
        lost.push({ path, reason: 'its content is not kept any more' })
      else if (!(await fileStates.isPlain(path))) behindLinks.push(path)
      else if (!isSameState(await fileStates.look(path), from)) others.add(path)
    })
    if (lost.length > 0) throw notKept(lost)
    if (behindLinks.length > 0) throw linked(behindLinks.toSorted())
    if (others.size > 0) throw changed([...others].toSorted())
  }

  async function assess(restoring: Restoring): Promise<boolean> {
    let isClean = true
    const { files } = await filesOf(restoring)
    await fileStates.tidy(files.map(({ path }) => path))
    await inTurns(files, async ({ path, from, to }) => {
      const now = await fileStates.look(path)
      if (!isSameState(now, from) && !isSameState(now, to) && now.exists) isClean = false
    })
    return isClean
  }

  async function takeBack(restoring: Restoring): Promise<void> {
    const { directory, back } = await filesOf(restoring)
    const ours: FileStep[] = []
    for (const step of back) {
      const now = await fileStates.look(step.path)
      if (!now.exists || isSameState(now, step.from) || isSameState(now, step.to)) ours.push(step)
      else effects.log.warn('a file was changed while it was restored, and is left as it is', { path: step.path })
    }
    await fileStates.bring(ours, directory)
  }

  return laidOut(
    chartOf(restoreMachine).provide({
      actors: {
        check: effect(check),
        note: effect(({ sessionId, move }) => journal.commit('power', () => store.restores.put(sessionId, move))),
        write: effect(async (restoring) => {
          const { files, directory } = await filesOf(restoring)
          return fileStates.bring(files, directory)
        }),
        record: effect(async (restoring) => recordMove(core, restoring.sessionId, restoring.move, await historyOf(restoring))),
        assess: fromPromise(({ input }) => assess(known(input.sessionId))),
        takeBack: effect(takeBack),
        forget: effect(async (restoring) => takeBackMove(core, restoring.sessionId, restoring.move, await historyOf(restoring))),
      },
    }),
  )
}

interface Unkept {
  readonly path: string | undefined
  readonly reason: string
}

interface MovePlan extends FilePlan {
  readonly unkept: readonly Unkept[]
}

/** Every file the move is about, and what stands against it. Yields as it looks at what a part says, so that whoever drives it may pause. */
function* planMove(history: readonly Message[], { from, to }: HistoryMove, directory: string): Generator<number, MovePlan> {
  const [start, end] = [boundaryOf(history, from), boundaryOf(history, to)]
  if (start === undefined || end === undefined)
    throw new SvcError('resource.not_found', 'There is no such message or part in this session.', { ...(start === undefined ? from : to) })
  const isBack = isBefore(end, start)
  const [first, last] = isBack ? [end, start] : [start, end]
  const unkept: Unkept[] = []
  const steps: FileStep[] = []
  const places = new Map(history.map(({ info }) => [info.id, info.role === 'assistant' ? info.path.cwd : directory])) // it may have moved since
  for (const part of partsBetween(history, first, last)) {
    yield 1
    const { snapshots, unkept: reason } = changesOf(part)
    if (reason !== undefined) unkept.push({ path: undefined, reason })
    for (const snapshot of snapshots) {
      const step = stepOf(snapshot, places.get(part.messageId) ?? directory)
      if (step === undefined || !isKept(step.from) || !isKept(step.to))
        unkept.push({ path: snapshot.path, reason: step === undefined ? 'its path is not plain' : 'its content was not kept' })
      else steps.push(isBack ? { path: step.path, from: step.to, to: step.from } : step)
    }
  }
  return { unkept, ...planFiles(isBack ? steps.toReversed() : steps) }
}

/** Forward; undefined for a path that no tool of ours would have written. */
function stepOf({ path, absolute, before, after }: FileSnapshot, directory: string): FileStep | undefined {
  const isPlain = absolute === true ? path.startsWith('/') : !path.startsWith('/')
  const names = path.replace(/^\//, '').split('/')
  if (!isPlain || path.includes('\0') || names.some((name) => name === '' || name === '.' || name === '..')) return undefined
  return { path: absolute === true ? path : `${directory === '/' ? '' : directory}/${path}`, from: before, to: after }
}

function notKept(unkept: readonly Unkept[]): SvcError {
  const paths = unkept.flatMap(({ path }) => path ?? [])
  const [first] = unkept
  const why = first?.path === undefined ? first?.reason : `${told(paths)}: ${first.reason}`
  return new SvcError('resource.conflict', `Nothing was changed, because not all of it can be restored: ${why}.`, {
    paths,
    reasons: unkept.slice(0, 20).map(({ reason }) => reason),
  })
}

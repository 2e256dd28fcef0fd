/**
 * What a step looks at, taken once for all of it.
 *
 * I1 Nothing of a world changes while its step lasts: what is configured, published or allowed meanwhile counts from the next step on.
 * I2 What is taken away meanwhile is gone at once: a judgement goes by the rules of the world and, where the configuration or the rules of
 *    the session or of one above it, wherever that is, have moved, also by those of now, whichever are stricter.
 * I3 What somebody has answered stands in rows and is no part of a world.
 */
import type { Stopping } from '../../../kernel/stopping.js'
import type { PermissionLayers } from '../../../machines/permission/permission.js'
import type { CompactionPolicy } from '../../../machines/session/compaction/window.js'
import type { Session } from '../../../protocol/session/session.js'
import type { ConfigDocument } from '../../../protocol/resource/config.js'
import type { AgentView } from '../../../ports/facades.js'
import type { RegistryView } from '../../../ports/view.js'
import { compactionPolicy } from '../compaction/compaction-policy.js'
import { sessionOrThrow, type Rows, type Sources } from '../state/core.js'
import { externalAgent, isExternal } from '../state/external-agent.js'
import { agentOf } from '../state/plan-mode.js'
import type { Project } from '../state/project.js'
import { knownAgent } from '../state/records.js'
import { ceilingsOf, directoriesAbove, standingRules } from './ceilings.js'
import { type Answering, type ClaimedRun, layersOf, rulesOf } from './claimed-run.js'

/** What judgements go by besides answers. */
export interface Rules {
  readonly layers: PermissionLayers
  /** `dangerouslySkipPermissions`. */
  readonly bypass: boolean
}

export interface World extends Rules, Answering {
  /** Of the directory of the session. */
  readonly configuration: ConfigDocument
  readonly project: Project
  /** What was offered. */
  readonly view: RegistryView
  readonly policy: CompactionPolicy
  /** What stood in rows of the rules. */
  readonly standing: string
  /** Of the directories of sessions above, in the order of `directoriesAbove`. */
  readonly above: readonly ConfigDocument[]
}

const NONE: readonly ConfigDocument[] = []

type Around = Pick<Rows & Sources, 'store' | 'effects' | 'configs' | 'projects' | 'plugins' | 'resources'>

/** Once for each step, when it is prepared; `before`: of the step before. */
export async function takeWorld(
  core: Around,
  run: ClaimedRun,
  before: World | undefined,
  stopping: Pick<Stopping, 'signal'>,
): Promise<World> {
  const { directory, id } = run.session
  // Whatever else is read of the configuration is at least as new as what is kept of it: a change in between is noticed.
  const session = core.store.sessions.get(id) ?? run.session
  const configuration = core.configs.latest(directory) ?? (await core.configs.load(directory))
  const places = directoriesAbove(core, session)
  const above = places.length === 0 ? NONE : await loadAll(core, places)
  const project = await core.projects.identify(directory)
  const answering = await answeringNow(core, run, before ?? run.answering)
  const standing = standingRules(core, session)
  const isAsBefore =
    before?.standing === standing &&
    before.configuration === configuration &&
    areSame(before.above, above) &&
    before.target.agent === answering.target.agent
  const layers = isAsBefore
    ? before.layers
    : layersOf({ session, prompt: run.prompt }, answering.target.agent, await ceilingsOf(core, session))
  const preparing = core.plugins.prepared(directory, id, stopping, rulesOf(layers))
  const view = preparing instanceof Promise ? await preparing : preparing
  return {
    ...answering,
    configuration,
    project,
    layers,
    view,
    bypass: isBypassed(configuration),
    policy: compactionPolicy(core, configuration, answering.target),
    standing,
    above,
  }
}

/** The world of a run that nobody can answer: nothing is asked, called or compacted in it. */
export async function takeBareWorld(core: Around, run: ClaimedRun): Promise<World> {
  const { directory, id } = run.session
  const { target } = run.answering
  const configuration = {}
  return {
    ...run.answering,
    configuration,
    project: await core.projects.identify(directory),
    view: core.plugins.current(directory, id),
    layers: layersOf(run, target.agent, run.ceilings),
    bypass: false,
    policy: compactionPolicy(core, configuration, target),
    standing: standingRules(core, run.session),
    above: [],
  }
}

/**
 * Who answers the step that follows: a session that began to plan, or ended it, is answered by the agent for that, unless the prompt
 * names one. What the configuration says of the agent now counts; one that is no longer there goes on as it was.
 */
async function answeringNow(core: Around, run: ClaimedRun, { target, isPlanning }: Answering): Promise<Answering> {
  const { prompt } = run
  const session = sessionOrThrow(core, run.session.id)
  const { id, directory } = session
  const plansNow = session.mode !== undefined
  if (plansNow === isPlanning || prompt.agent !== undefined) {
    const agent = await agentNow(core, session, target.agent)
    return { target: agent === target.agent ? target : { ...target, agent }, isPlanning: plansNow }
  }
  const name = await agentOf(core, session)
  const agent = name === undefined ? await core.resources.defaultAgent(directory, id) : await knownAgent(core, directory, name, id)
  return { target: { ...target, agent }, isPlanning: plansNow }
}

function agentNow({ resources }: Pick<Around, 'resources'>, session: Session, agent: AgentView): Promise<AgentView> {
  const { id, directory } = session
  const { name } = agent.record
  const now = isExternal(session) ? externalAgent({ resources }, directory, name) : resources.agent(directory, name, id)
  return now.catch(() => agent)
}

function loadAll({ configs }: Pick<Sources, 'configs'>, directories: readonly string[]): Promise<readonly ConfigDocument[]> {
  return Promise.all(directories.map((directory) => configs.load(directory)))
}

function areSame(some: readonly (ConfigDocument | undefined)[], others: readonly ConfigDocument[]): boolean {
  return some.length === others.length && some.every((each, at) => each === others[at])
}

function isBypassed(configuration: ConfigDocument): boolean {
  return configuration['dangerouslySkipPermissions'] === true
}

interface Narrowing {
  readonly configuration: ConfigDocument
  readonly standing: string
  readonly above: readonly ConfigDocument[]
  readonly rules: Rules
}

/** The latest narrowing of each world, by what it was made for. */
const narrowed = new WeakMap<World, Narrowing>()

/** The rules of a world, or less (I2). Nothing to wait for where nothing has moved. */
export function rulesNow(
  core: Pick<Rows & Sources, 'configs' | 'resources' | 'store'>,
  run: ClaimedRun,
  world: World,
): Rules | Promise<Rules> {
  const { directory, id } = run.session
  const session = core.store.sessions.get(id) ?? run.session
  const standing = standingRules(core, session)
  const places = directoriesAbove(core, session)
  const isOfNow: IsOfNow = (configuration, above) =>
    standing === world.standing && configuration === world.configuration && areSame(above, world.above)
  if (isOfNow(core.configs.latest(directory), places.map(core.configs.latest))) return world
  return narrowedBy(core, run, world, { session, standing, places, isOfNow })
}

type IsOfNow = (configuration: ConfigDocument | undefined, above: readonly (ConfigDocument | undefined)[]) => boolean

interface Moved {
  readonly session: Session
  readonly standing: string
  readonly places: readonly string[]
  readonly isOfNow: IsOfNow
}

async function narrowedBy(
  core: Pick<Rows & Sources, 'configs' | 'resources' | 'store'>,
  run: ClaimedRun,
  world: World,
  { session, standing, places, isOfNow }: Moved,
): Promise<Rules> {
  const { directory } = run.session
  const [configuration, above] = await Promise.all([core.configs.load(directory), loadAll(core, places)])
  if (isOfNow(configuration, above)) return world
  const known = narrowed.get(world)
  if (known?.configuration === configuration && known.standing === standing && areSame(known.above, above)) return known.rules
  const agent = await agentNow(core, session, world.target.agent)
  const now = layersOf({ session, prompt: run.prompt }, agent, await ceilingsOf(core, session))
  const rules = {
    layers: { ...world.layers, ceilings: [...(world.layers.ceilings ?? []), now] },
    bypass: world.bypass && isBypassed(configuration),
  }
  narrowed.set(world, { configuration, standing, above, rules })
  return rules
}

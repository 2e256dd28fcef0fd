/** Everything the files say about one directory, read once: the layers, their merge by trust, and the Markdown entries. */
import { resolve } from 'node:path'
import type { PermissionConfig } from '../../../protocol/resource/agent-config.js'
import { type ConfigDiagnostic, ConfigDocument } from '../../../protocol/resource/config.js'
import { LIMITS } from '../../../protocol/limits.js'
import type { Effects } from '../../../ports/effects.js'
import { type LayerPlan, type Origin, planLayers, pluginRoots, type Step, type Trust } from '../config/config-files.js'
import { type LayerRead, readLayer, readMcpLayer, type UnsupportedKey } from '../config/config-layer.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { mergeDocuments, recordAt, stringsAt } from '../config/config-merge.js'
import { normaliseMerged } from '../config/config-normalise.js'
import type { Position } from '../config/config-parse.js'
import { narrowWorkspace } from '../config/config-trust.js'
import type { FileProbe } from '../../../ports/watched.js'
import { type DefinitionFile, scanDefinitions, scanSkillFolders, scanSkills, type SkillEntry } from '../markdown/markdown.js'
import { boundsOf, createRoom, type Room } from '../config/workspace-room.js'
import { boundaryOf, readNamedPath } from '../config/named-paths.js'
import { narrowedSandbox, permissionOf, showNarrowed } from '../config/permission-config.js'

/** What the configuration of a directory amounts to. Decisions about permissions use the two maps, never `document`. */
export interface ConfigSnapshot {
  readonly directory: string
  /** Top of the Git worktree, or the directory itself. */
  readonly worktree: string
  /** Effective flat document, without what a workspace may not set. */
  readonly document: ConfigDocument
  /** Keys of workspaces that are none of their place: shown with the document, and read by nobody. */
  readonly inert: JsonRecord
  /** Merged documents by trust; agent definitions and permissions are read from these. That of the workspace holds what it may set, and its permissions. */
  readonly trusted: JsonRecord
  readonly workspace: JsonRecord
  /** Everything the workspace says, whether it counts or not: what it brings is shown, and waits for an act. */
  readonly said: JsonRecord
  readonly trustedPermission: PermissionConfig
  readonly narrowingPermission: PermissionConfig
  readonly skills: readonly SkillEntry[]
  /** Markdown files of agents and commands, in the order in which they count. */
  readonly files: readonly DefinitionFile[]
  /** The last file that says something of an agent or command, by kind and key: `agent/build`. */
  readonly definedIn: ReadonlyMap<string, string>
  /** Problems found while reading: broken and refused files, and what a workspace tried to widen. */
  readonly diagnostics: readonly ConfigDiagnostic[]
  /** Those of the directories of plugins that exist: the root of the installation and `.svc/plugins`. */
  readonly pluginFolders: readonly string[]
  /** Where providers of the installation name their adapter, by their id. */
  readonly adapters: ReadonlyMap<string, Place>
  /** The last good document of each file that took part. */
  readonly layers: ReadonlyMap<string, JsonRecord>
  /** Of each of these. */
  readonly trustOf: ReadonlyMap<string, Trust>
  /** Files that could not be read this time. */
  readonly failures: readonly LayerFailure[]
}

interface Place extends Position {
  readonly file: string
}

interface LayerFailure {
  readonly file: string
  readonly message: string
  readonly position?: Position
}

interface Layer {
  readonly name: string
  readonly trust: Trust
  readonly document: JsonRecord
  /** Same-named agents and commands are replaced whole. */
  readonly replaces: boolean
}

type Finding = {
  readonly layer?: Layer
  readonly diagnostics?: readonly ConfigDiagnostic[]
  readonly failure?: LayerFailure
  readonly files?: readonly DefinitionFile[]
  readonly adapters?: ReadonlyMap<string, Place>
}

/**
 * Reads the configuration of a canonical directory. A file that is malformed contributes its last good document from
 * `previous`, or nothing; it is named in `failures`.
 */
export async function readSnapshot(
  effects: Pick<Effects, 'env' | 'paths' | 'sha256'>,
  probe: FileProbe,
  directory: string,
  previous?: Pick<ConfigSnapshot, 'layers' | 'files'>,
): Promise<ConfigSnapshot> {
  const plan = await planLayers(probe, effects, directory)
  const findings: Finding[] = [{ diagnostics: plan.diagnostics }]
  const ground: Ground = { lastGood: previous?.layers, lastFiles: previous?.files ?? [], sha256: effects.sha256, room: createRoom() }
  for (const step of plan.steps) findings.push(await readStep(probe, step, ground))
  const layers = findings.flatMap(({ layer }) => (layer === undefined ? [] : [layer]))
  const merged = mergeByTrust(layers, plan)
  const skills = await readSkills(probe, plan, { ...merged, directory, home: effects.paths.home })
  const pluginFolders = []
  for (const path of pluginRoots(effects, directory)) if ((await probe.kind(path)) === 'directory') pluginFolders.push(path)
  const failures = findings.flatMap(({ failure }) => (failure === undefined ? [] : [failure]))
  const failed = failures.map(
    ({ file, message, position }): ConfigDiagnostic => ({
      level: 'error',
      path: 'config',
      message: `${file}${message}`,
      file,
      ...(position ?? { line: 1, column: 1 }),
    }),
  )
  return {
    ...merged,
    directory,
    worktree: plan.worktree,
    skills: skills.entries,
    pluginFolders,
    files: findings.flatMap(({ files = [] }) => [...files]),
    definedIn: definedIn(findings),
    adapters: new Map(findings.flatMap(({ adapters = [] }) => [...adapters])),
    trustOf: new Map(layers.map(({ name, trust }) => [name, trust])),
    layers: new Map(layers.filter((layer) => !layer.replaces).map((layer) => [layer.name, layer.document])),
    failures,
    diagnostics: [...failed, ...findings.flatMap(({ diagnostics = [] }) => diagnostics), ...merged.refusals, ...skills.diagnostics],
  }
}

/** The rest of a sentence that starts with a file. */
const NO_ROOM = `is not used: the files of the workspace say more than ${LIMITS.config.workspace.allValues} values together`

interface Ground {
  readonly lastGood: ReadonlyMap<string, JsonRecord> | undefined
  readonly lastFiles: readonly DefinitionFile[]
  readonly sha256: Effects['sha256']
  readonly room: Room
}

async function readStep(probe: FileProbe, step: Step, ground: Ground): Promise<Finding> {
  if (step.type === 'text') return toFinding(readLayer(step.text), { path: step.name, trust: 'installation', within: undefined }, ground)
  const { origin } = step
  const { lastGood } = ground
  if (step.type === 'markdown') return readDefinitions(probe, origin, ground)
  const { fileBytes, values } = boundsOf(origin.trust)
  const outcome = await probe.readText(origin.path, { maxBytes: fileBytes, within: origin.within })
  switch (outcome.type) {
    case 'absent':
      return step.type === 'file' && step.isNamed === true
        ? { diagnostics: [warning(`${origin.path}, named by SVC_AGENT_CONFIG, does not exist`)] }
        : {}
    case 'refused':
      return { diagnostics: [warning(`${origin.path} is not read: it ${outcome.reason}`, origin.path)] }
    case 'failed':
      return broken(origin, ` ${outcome.reason}`, lastGood)
    case 'text':
      if (wasEmptied(outcome.text, origin, lastGood)) return broken(origin, ' is empty just now; write {} to mean nothing', lastGood)
      return toFinding(step.type === 'mcp' ? readMcpLayer(outcome.text, values) : readLayer(outcome.text, values), origin, ground)
  }
}

/** A file that is rewritten in place is empty for a moment: what it said before holds until it says something. */
function wasEmptied(text: string, { path }: Origin, lastGood: ReadonlyMap<string, JsonRecord> | undefined): boolean {
  const before = lastGood?.get(path)
  return text.trim() === '' && before !== undefined && Object.keys(before).length > 0
}

function warning(message: string, file?: string): ConfigDiagnostic {
  return { level: 'warning', path: 'config', message, ...(file !== undefined && { file, line: 1, column: 1 }) }
}

function toFinding(read: LayerRead, origin: Origin, { lastGood, room }: Pick<Ground, 'lastGood' | 'room'>): Finding {
  if (read.ok) {
    if (!room.take(origin, read.document)) return broken(origin, ` ${NO_ROOM}`, lastGood)
    const { path: file, trust } = origin
    const adapters = new Map([...read.adapters].map(([id, position]): [string, Place] => [id, { file, ...position }]))
    return {
      layer: { name: file, trust, document: read.document, replaces: false },
      diagnostics: read.unsupported.map((key) => unsupported(file, key)),
      ...(trust === 'installation' && { adapters }),
    }
  }
  const { line, column } = read.position
  return broken(origin, `:${line}:${column}: ${read.path === '' ? '' : `"${read.path}" `}${read.message}`, lastGood, read.position)
}

function unsupported(file: string, { path, reason, position }: UnsupportedKey): ConfigDiagnostic {
  const message = `${file}:${position.line}:${position.column}: "${path}" has no effect: ${reason}`
  return { level: 'warning', code: 'unsupported', path, message, file, ...position }
}

function broken(origin: Origin, message: string, lastGood: ReadonlyMap<string, JsonRecord> | undefined, position?: Position): Finding {
  const document = lastGood?.get(origin.path)
  const failure = { file: origin.path, message, ...(position !== undefined && { position }) }
  return document === undefined ? { failure } : { failure, layer: { name: origin.path, trust: origin.trust, document, replaces: false } }
}

async function readDefinitions(probe: FileProbe, origin: Origin, ground: Ground): Promise<Finding> {
  const scan = await scanDefinitions(probe, origin, ground)
  const entries = scan.entries.filter(({ definition }) => ground.room.take(origin, definition, LIMITS.config.workspace.definition))
  const used = new Set(entries)
  const files = scan.files.map((file) => (file.entry === undefined || used.has(file.entry) ? file : { ...file, entry: undefined }))
  const left = scan.entries.length - entries.length
  const diagnostics =
    left === 0 ? scan.diagnostics : [...scan.diagnostics, warning(`${left} definitions below ${origin.path}: each ${NO_ROOM}`)]
  const of = (kind: string) =>
    Object.fromEntries(entries.filter((entry) => entry.kind === kind).map((entry) => [entry.name, entry.definition]))
  const document = { agent: of('agent'), command: of('command') }
  return { diagnostics, files, ...(entries.length > 0 && { layer: { name: origin.path, trust: origin.trust, document, replaces: true } }) }
}

function definedIn(findings: readonly Finding[]): ReadonlyMap<string, string> {
  const places = new Map<string, string>()
  for (const { layer, files = [] } of findings) {
    const isFile = layer?.replaces === false
    for (const kind of isFile ? ['agent', 'command'] : [])
      for (const key of Object.keys(recordAt(layer?.document, kind))) places.set(`${kind}/${key}`, layer?.name ?? '')
    for (const { kind, entry, kept = entry, path } of files) if (kept !== undefined) places.set(`${kind}/${kept.name}`, path)
  }
  return places
}

function mergeByTrust(layers: readonly Layer[], plan: LayerPlan) {
  const isOfWorkspace = ({ trust }: Layer) => trust === 'workspace'
  const trusted = normaliseMerged(merge(layers.filter((layer) => !isOfWorkspace(layer))))
  const refusals: ConfigDiagnostic[] = []
  let inert: JsonRecord = {}
  const narrowed = layers.map((layer): Layer => {
    if (!isOfWorkspace(layer)) return layer
    const result = narrowWorkspace(layer.document, { trusted, worktree: plan.worktree })
    for (const { path, reason } of result.refused) {
      const waits = /^mcp\.([^.]+)$/.exec(path)?.[1]
      const why = waits === undefined || Object.hasOwn(recordAt(trusted, 'mcp'), waits) ? reason : `it waits for "svc mcp accept ${waits}"`
      const message = `"${path}" in ${layer.name} has no effect: ${why}`
      refusals.push({ level: 'warning', path, message, ...(!layer.replaces && { file: layer.name }) })
    }
    inert = mergeDocuments(inert, result.inert)
    return { ...layer, document: result.document }
  })
  const said = normaliseMerged(merge(layers.filter(isOfWorkspace)))
  const workspace = withPermissions(normaliseMerged(merge(narrowed.filter(isOfWorkspace))), said)
  const trustedPermission = permissionOf(trusted)
  const narrowingPermission = permissionOf(workspace)
  const shown = withShownPermissions(normaliseMerged(merge(narrowed)), trusted, workspace)
  const document = ConfigDocument.parse(withShell(shown, trusted))
  return { trusted, workspace, said, trustedPermission, narrowingPermission, document, inert, refusals }
}

/** The permissions of `said`, at the top and of each agent, in what counts of it. */
function withPermissions(document: JsonRecord, said: JsonRecord): JsonRecord {
  const ruled = (holder: JsonRecord, from: JsonRecord) =>
    isRecord(from['permission']) ? { ...holder, permission: from['permission'] } : holder
  const agents = Object.entries(recordAt(document, 'agent')).map(([name, agent]): [string, JsonRecord] => [
    name,
    ruled(isRecord(agent) ? agent : {}, recordAt(recordAt(said, 'agent'), name)),
  ])
  return { ...ruled(document, said), ...(agents.length > 0 && { agent: Object.fromEntries(agents) }) }
}

function merge(layers: readonly Layer[]): JsonRecord {
  let merged: JsonRecord = {}
  for (const { document, replaces } of layers) merged = replaces ? replaceDefinitions(merged, document) : mergeDocuments(merged, document)
  return merged
}

/** Markdown entries replace same-named ones whole (subsystems b.1). */
function replaceDefinitions(merged: JsonRecord, entries: JsonRecord): JsonRecord {
  const kinds = Object.keys(entries).filter((kind) => Object.keys(recordAt(entries, kind)).length > 0)
  return { ...merged, ...Object.fromEntries(kinds.map((kind) => [kind, { ...recordAt(merged, kind), ...recordAt(entries, kind) }])) }
}

/** The permission maps people see: those of the installation with what the workspace tightens. */
function withShownPermissions(document: JsonRecord, trusted: JsonRecord, workspace: JsonRecord): JsonRecord {
  const shown = (holder: JsonRecord, trustedHolder: unknown, workspaceHolder: unknown): JsonRecord => {
    const permission = showNarrowed(permissionOf(trustedHolder), permissionOf(workspaceHolder))
    return Object.keys(permission).length === 0 ? holder : { ...holder, permission }
  }
  const agents = Object.keys(recordAt(document, 'agent')).map((name): [string, JsonRecord] => {
    const holders = [document, trusted, workspace].map((from) => recordAt(recordAt(from, 'agent'), name))
    return [name, shown(holders[0] ?? {}, holders[1], holders[2])]
  })
  const sandbox = narrowedSandbox(trusted, workspace)
  const ruled = shown(document, trusted, workspace)
  const result = sandbox === undefined ? ruled : { ...ruled, permission: { ...recordAt(ruled, 'permission'), sandbox } }
  return agents.length === 0 ? result : { ...result, agent: Object.fromEntries(agents) }
}

/** `terminal.shell` of the installation serves when the agent document names none (subsystems b.1). */
function withShell(document: JsonRecord, trusted: JsonRecord): JsonRecord {
  const shell = recordAt(trusted, 'terminal')['shell']
  return document['shell'] !== undefined || shell === undefined ? document : { ...document, shell }
}

async function readSkills(probe: FileProbe, plan: LayerPlan, at: SkillGround) {
  const named = await Promise.all(
    (stringsAt(recordAt(at.document, 'skills'), 'paths') ?? []).map(async (text) => skillRoot(probe, plan, at, text)),
  )
  const folders = plan.steps.flatMap((step) => (step.type === 'markdown' ? [step.origin] : []))
  const scans = await Promise.all([
    ...folders.map((origin) => scanSkillFolders(probe, origin)),
    ...named.flatMap((root) => ('level' in root ? [] : [scanSkills(probe, root)])),
  ])
  const byId = new Map(scans.flatMap((scan) => scan.entries).map((entry): [string, SkillEntry] => [entry.id, entry]))
  const refused = named.filter((root) => 'level' in root)
  return { entries: [...byId.values()], diagnostics: [...refused, ...scans.flatMap((scan) => scan.diagnostics)] }
}

interface SkillGround {
  readonly document: JsonRecord
  readonly trusted: JsonRecord
  readonly directory: string
  readonly home: string
}

async function skillRoot(
  probe: FileProbe,
  { worktree }: LayerPlan,
  { trusted, directory, home }: SkillGround,
  text: string,
): Promise<Origin | ConfigDiagnostic> {
  const trust = stringsAt(recordAt(trusted, 'skills'), 'paths')?.includes(text) === true ? 'installation' : 'workspace'
  const named = readNamedPath(text, { trust, home, worktree })
  if (!named.ok) return { level: 'warning', path: 'skills.paths', message: `"${text}" in "skills.paths" has no effect: it ${named.reason}` }
  const path = resolve(directory, named.path)
  if ((await probe.kind(path)) !== 'directory')
    return { level: 'warning', path: 'skills.paths', message: `"${text}" in "skills.paths" has no effect: it is no directory` }
  const within = trust === 'workspace' ? worktree : await boundaryOf(probe, path, worktree)
  return { path, trust: within === undefined ? 'installation' : 'workspace', within }
}

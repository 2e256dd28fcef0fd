/**
 * A host for one package, started as svc starts it: a copy that may not be changed, in its sandbox where there is one (plugin-protocol §4.1).
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createSandbox } from '../../../../actors/plugin/entry/sandbox.js'
import { createTreeCopy } from '../../../../actors/plugin/package/package-copy.js'
import { commandOf } from '../../../../actors/plugin/package/package-plan.js'
import { hashPackage } from '../../../../actors/plugin/package/revision.js'
import { pluginEnvironment } from '../../../../actors/plugin/process/process-spec.js'
import type { ChildPipe, Effects } from '../../../../ports/effects.js'
import { LIMITS } from '../../../../protocol/limits.js'
import { createLineSplitter } from '../../../../protocol/plugin/frame-lines.js'
import type { AgentTarget } from '../../../../protocol/plugin/plugin.js'
import { PROCESS_PROTOCOL } from '../../../../protocol/plugin/plugin-frame.js'
import { pluginPrograms } from '../../../../server/plugin-programs.js'
import { type Conversation, createConversation, type Reply } from './conversation.js'
import { undeclared } from './declared.js'

export interface Harness extends Conversation {
  readonly owner: Readonly<Record<string, unknown>>
  /** Lines of its log. */
  readonly log: readonly string[]
  /** Bytes of the longest line of its log. */
  readonly longestLog: number
  initialize(config: unknown): Promise<Reply>
  /** Bytes as they are. */
  write(text: string): void
  closeInput(): void
  readonly ended: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>
  /** Resolves once it is so, or the time is over. */
  until(isThere: () => boolean, ms?: number): Promise<boolean>
  /** Of the copy, as it is by now. */
  revision(): Promise<string>
  /** Ends it and removes the copy. */
  close(): Promise<void>
}

export interface Subject {
  readonly id: string
  readonly root: string
  readonly target: AgentTarget
}

const INSTANCE = 'plugin-instance-1'
const LOOK = 20

export async function startHarness(effects: Effects, subject: Subject): Promise<Harness> {
  const { id: pluginId, target } = subject
  const copy = await copyOf(effects, subject.root)
  const log = logOf(copy.root, subject.root)
  const conversation = createConversation(INSTANCE, {
    write: (line) => void child.write(line),
    lastWords: log.lastWords,
    refusal: (method, params) => undeclared(target, method, params),
  })
  const output = createLineSplitter(LIMITS.plugins.frameBytes, { onLine: conversation.take, onOversized: conversation.overlong })
  const child = await spawn(effects, subject, copy.root, {
    env: { ...pluginEnvironment(effects, { pluginId, directory: copy.root }), SVC_PLUGIN_INSTANCE_ID: INSTANCE },
    onStdout: (chunk) => output.push(chunk),
    onStderr: (chunk) => log.splitter.push(chunk),
  })
  const ended = child.ended.then((how) => {
    output.end()
    log.splitter.end()
    conversation.end(`it has ended, with ${how.exitCode ?? how.signal}${log.lastWords()}`)
    return how
  })
  const owner = {
    pluginId,
    instanceId: INSTANCE,
    packageRevision: copy.revision,
    registryGeneration: 1,
    scope: target.scope,
    ...placeOf(target),
  }
  const own = {
    owner,
    log: log.lines,
    get longestLog() {
      return log.longest()
    },
    initialize: (config: unknown) => {
      const params = { protocol: PROCESS_PROTOCOL, pluginId, instanceId: INSTANCE, directory: copy.root, config, owner }
      return conversation.call('initialize', params, LIMITS.plugins.initialize)
    },
    write: (text: string) => void child.write(text),
    closeInput: () => child.closeInput(),
    ended,
    async until(isThere: () => boolean, ms = 2000) {
      for (let waited = 0; waited < ms && !isThere(); waited += LOOK) await delay(LOOK)
      return isThere()
    },
    revision: async () => (await hashPackage(effects, copy.root)).revision,
    async close() {
      child.kill()
      await child.gone
      rmSync(copy.room, { recursive: true, force: true })
    },
  }
  return Object.defineProperties(conversation, Object.getOwnPropertyDescriptors(own)) as Conversation & typeof own
}

/** What it writes to its log, with the folder of its author in the place of the copy. */
function logOf(copy: string, folder: string) {
  const lines: string[] = []
  let longest = 0
  const splitter = createLineSplitter(LIMITS.plugins.frameBytes, {
    onLine(line) {
      longest = Math.max(longest, line.length)
      lines.push(Buffer.from(line).toString('utf8').replaceAll(copy, folder))
    },
    onOversized: () => void (longest = LIMITS.plugins.frameBytes + 1),
  })
  return { lines, splitter, longest: () => longest, lastWords: () => lastWords(lines) }
}

/** What runs, as the store of packages makes it. */
async function copyOf(effects: Effects, source: string) {
  const room = realpathSync(mkdtempSync(join(tmpdir(), 'svc-plugin-test-')))
  const root = join(room, 'package')
  mkdirSync(root, { mode: 0o700 })
  const copy = createTreeCopy(effects.files, root)
  const { revision } = await hashPackage(effects, source, (entry) => copy.open(entry))
  await copy.finish()
  return { room, root, revision }
}

async function spawn(
  effects: Effects,
  { id, target }: Subject,
  root: string,
  options: Pick<Parameters<Effects['processes']['open']>[0], 'env' | 'onStdout' | 'onStderr'>,
): Promise<ChildPipe> {
  const deps = { effects, sandbox: createSandbox(effects), ...pluginPrograms() }
  const network = target.capabilities.includes('network')
  const { program, args } = await commandOf(deps, id, target, root, { network, entry: { sandbox: undefined } })
  return effects.processes.open({ command: program, args, cwd: root, inputBacklog: 64 * LIMITS.plugins.inputBacklog, ...options })
}

function placeOf({ scope }: AgentTarget): Readonly<Record<string, string>> {
  if (scope === 'workspace') return { workspaceId: '/workspace' }
  if (scope === 'session') return { workspaceId: '/workspace', scopeId: 'ses_test' }
  return scope === 'user' ? { scopeId: 'tester' } : {}
}

const WORDS = 3

function lastWords(log: readonly string[]): string {
  const last = log.slice(-WORDS).join(' | ')
  return last === '' ? '' : `: ${last}`
}

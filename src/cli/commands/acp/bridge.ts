/** Methods of the Agent Client Protocol, answered by a server of svc (subsystems n). */
import {
  agent,
  type AgentApp,
  type AgentContext,
  type ClientCapabilities,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type McpServer,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk'
import { isAbsolute } from 'node:path'
import * as z from 'zod'
import { VERSION } from '../../../server/version.js'
import { isRecord } from '../../../protocol/text/json.js'
import { messageOf } from '../../../protocol/message-of.js'
import type { PromptRequestInput } from '../../../protocol/message/message.js'
import { SvcClientError } from '../../../published/client/client.js'
import type { Client } from '../../../published/client/client-types.js'
import { patient } from './patient.js'
import { promptParts, type ReadFile, withFiles } from './prompt-parts.js'
import { createEditorServers } from './editor-servers.js'
import { createSessions, makeChoice, type Opened, type Sessions, stateOf } from './sessions.js'
import type { Teller } from './updates.js'

const SIGN_IN = 'svc-auth'
const SessionOnly = z.looseObject({ sessionId: z.string() })
const SetModel = z.looseObject({ sessionId: z.string(), modelId: z.string() })
const SetVariant = z.looseObject({ sessionId: z.string(), variantId: z.string().nullish() })
const Fork = z.looseObject({ sessionId: z.string(), cwd: z.string().optional() })

interface BridgeOptions {
  readonly client: Client
  /** Where a session works for which the editor names no directory. */
  readonly directory: string
  /** Says what the person at the editor may want to know. */
  note(text: string): void
}

export function createBridge({ client, directory, note }: BridgeOptions): AgentApp {
  let capabilities: ClientCapabilities = {}
  let editor: AgentContext | undefined
  const sessions = createSessions({
    client,
    editor() {
      if (editor === undefined) throw RequestError.invalidRequest({}, 'the connection is not open')
      return editor
    },
    abilities: () => ({
      elicits: capabilities.elicitation?.form != null,
      showsTerminals: capabilities._meta?.['terminal_output'] === true,
    }),
    onUnattended: (error) => note(`what a session asks is not heard any more: ${messageOf(error)}`),
  })

  /** What an editor is told of a session it has just opened; its commands and notices follow, when it knows the session. */
  function told(opened: Opened, notices: readonly string[] = []) {
    sessions
      .tellCommands(opened)
      .catch((error: unknown) => note(`commands cannot be listed: ${messageOf(error)}`))
      .finally(() => notices.forEach(noticeOf(opened.teller)))
    return stateOf(opened)
  }

  const servers = createEditorServers(client)
  const bring = ({ cwd, teller }: Opened, theirs: readonly McpServer[] | undefined) => servers.bring(cwd, theirs ?? [], noticeOf(teller))

  function begin(cwd: string): Promise<Opened> {
    if (cwd !== '' && !isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, '"cwd" must be an absolute path')
    return sessions.create(cwd === '' ? directory : cwd)
  }

  const app = agent({ name: 'svc' })
    .onConnect((connection) => {
      editor = connection.client
      void connection.closed.finally(() => sessions.unattendAll())
    })
    .onRequest('initialize', ({ params }) => {
      capabilities = params.clientCapabilities ?? {}
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'svc', title: 'svc', version: VERSION },
        agentCapabilities: {
          loadSession: true,
          mcpCapabilities: { http: true, sse: true },
          promptCapabilities: { image: true, embeddedContext: true, audio: false },
          sessionCapabilities: { list: {}, resume: {}, close: {}, fork: {} },
        },
        authMethods: [
          { id: SIGN_IN, name: 'Sign in at a model provider', description: 'Run "svc auth login" or "svc auth set" in a terminal.' },
        ],
      }
    })
    .onRequest('authenticate', () => answered(() => requireModel(client, directory)))
    .onRequest('session/new', ({ params }) =>
      answered(async () => {
        const opened = await begin(params.cwd)
        return { sessionId: opened.id, ...told(opened, await bring(opened, params.mcpServers)) }
      }),
    )
    .onRequest('session/load', ({ params }) =>
      answered(async () => {
        const opened = await sessions.open(params.sessionId, params.cwd)
        const notices = await bring(opened, params.mcpServers)
        await sessions.replay(opened)
        opened.attend()
        return told(opened, notices)
      }),
    )
    .onRequest('session/resume', ({ params }) =>
      answered(async () => {
        const opened = await sessions.open(params.sessionId, params.cwd)
        const notices = await bring(opened, params.mcpServers)
        opened.attend()
        return told(opened, notices)
      }),
    )
    .onRequest('session/fork', Fork, ({ params }) =>
      answered(async () => {
        const { id } = await client.sessions.fork({ sessionId: params.sessionId, body: {} })
        const opened = await sessions.open(id, undefined)
        return { sessionId: id, ...told(opened) }
      }),
    )
    .onRequest('session/list', ({ params }) => answered(() => listed(client, params)))
    .onRequest('session/close', ({ params }) => answered(async () => sessions.close(sessions.get(params.sessionId).id)))
  withChoices(app, sessions)
  const reading = (sessionId: string): ReadFile | undefined =>
    capabilities.fs?.readTextFile === true ? (path) => readThrough(editor, sessionId, path) : undefined
  return withPrompts(app, client, sessions, { reading, before: ({ cwd, teller }) => servers.again(cwd, noticeOf(teller)) })
}

async function listed(client: Client, { cwd, cursor: from }: ListSessionsRequest): Promise<ListSessionsResponse> {
  const query = { ...(cwd != null && { directory: cwd }), ...(from != null && { cursor: from }), roots: 'true', limit: 50 } as const
  const { items, cursor } = await patient(() => client.sessions.list(query))
  const sessions = items.map(({ id, directory, title, time }) => ({
    sessionId: id,
    cwd: directory,
    title,
    updatedAt: new Date(time.updated).toISOString(),
  }))
  return { sessions, ...(cursor.next !== undefined && { nextCursor: cursor.next }) }
}

async function readThrough(editor: AgentContext | undefined, sessionId: string, path: string): Promise<string> {
  const read = await editor?.request('fs/read_text_file', { sessionId, path })
  if (!isRecord(read) || typeof read['content'] !== 'string') throw new Error(`the editor did not read ${path}`)
  return read['content']
}

function withChoices(app: AgentApp, sessions: Sessions): void {
  const chosen = (sessionId: string, configId: string, value: unknown): Opened => {
    const opened = sessions.get(sessionId)
    makeChoice(opened, configId, value)
    return opened
  }
  /** Where an option was chosen by another name than its own. */
  const tellOptions = (opened: Opened): void =>
    opened.teller.send({ sessionUpdate: 'config_option_update', configOptions: stateOf(opened).configOptions })

  app
    .onRequest('session/set_mode', ({ params }) =>
      answered(async () => {
        tellOptions(chosen(params.sessionId, 'mode', params.modeId))
        return {}
      }),
    )
    .onRequest('session/set_config_option', ({ params }) =>
      answered(async () => {
        const opened = chosen(params.sessionId, params.configId, params.value)
        if (params.configId === 'mode') opened.teller.send({ sessionUpdate: 'current_mode_update', currentModeId: opened.choices.agent })
        return { configOptions: stateOf(opened).configOptions }
      }),
    )
    .onRequest('session/set_model', SetModel, ({ params }) =>
      answered(async () => {
        tellOptions(chosen(params.sessionId, 'model', params.modelId))
        return {}
      }),
    )
    .onRequest('session/set_variant', SetVariant, ({ params }) =>
      answered(async () => {
        tellOptions(chosen(params.sessionId, 'effort', params.variantId ?? 'default'))
        return {}
      }),
    )
}

interface Prompting {
  /** How the editor reads files for a session. */
  reading(sessionId: string): ReadFile | undefined
  /** What a prompt waits for. */
  before(opened: Opened): Promise<void>
}

function withPrompts(app: AgentApp, client: Client, sessions: Sessions, { reading, before }: Prompting): AgentApp {
  return app
    .onRequest('session/prompt', ({ params, signal }) =>
      answered(async () => {
        const opened = sessions.get(params.sessionId)
        const parts = promptParts(await withFiles(params.prompt, reading(opened.id)))
        if (opened.choices.model === undefined) await requireModel(client, opened.cwd)
        const [first] = parts
        if (parts.length === 1 && first?.type === 'text' && first.text.trim() === '/compact') {
          await client.sessions.compact({ sessionId: opened.id })
          return { stopReason: 'end_turn' as const }
        }
        await before(opened)
        const stop = () => opened.turns.cancel()
        signal.addEventListener('abort', stop)
        return opened.turns.prompt({ parts, ...chosenFor(opened) }).finally(() => signal.removeEventListener('abort', stop))
      }),
    )
    .onNotification('session/cancel', ({ params }) => sessions.get(params.sessionId).turns.cancel())
    .onRequest('session/cancel', SessionOnly, ({ params }) => answered(async () => sessions.get(params.sessionId).turns.cancel()))
}

function chosenFor({ choices: { agent: name, model, variant } }: Opened): Pick<PromptRequestInput, 'agent' | 'model' | 'variant'> {
  return { ...(name !== '' && { agent: name }), ...(model !== undefined && { model }), ...(variant !== undefined && { variant }) }
}

function noticeOf(teller: Teller): (title: string) => void {
  return (title) => teller.send({ sessionUpdate: 'notice', severity: 'warning', title })
}

async function requireModel(client: Client, directory: string): Promise<void> {
  const { providers } = await patient(() => client.providers.configured({ directory }))
  if (providers.every(({ models }) => Object.keys(models).length === 0))
    throw RequestError.authRequired({ methods: [SIGN_IN] }, 'no model can be used yet: run "svc auth login" or "svc auth set"')
}

/** Errors of the server as the protocol has them: unknown things are `-32002`, other refusals and failures `-32603` with what was said. */
async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof RequestError) throw error
    if (error instanceof SvcClientError && error.code === 'resource.not_found')
      throw new RequestError(-32002, error.message, { code: error.code })
    const code = error instanceof SvcClientError ? { code: error.code, ...error.details } : {}
    throw new RequestError(-32603, messageOf(error), code)
  }
}

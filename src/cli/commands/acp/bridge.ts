/** Methods of the Agent Client Protocol, answered by a server of svc (subsystems n). */
import { agent, type AgentApp, type AgentContext, type ClientCapabilities, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk'
import { isAbsolute } from 'node:path'
import * as z from 'zod'
import { VERSION } from '../../../server/version.js'
import { messageOf } from '../../../protocol/message-of.js'
import type { PromptRequestInput } from '../../../protocol/message/message.js'
import { SvcClientError } from '../../../published/client/client.js'
import type { Client } from '../../../published/client/client-types.js'
import { promptParts } from './prompt-parts.js'
import { createSessions, makeChoice, type Opened, type Sessions, stateOf } from './sessions.js'

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
  const sessions = createSessions(
    client,
    () => {
      if (editor === undefined) throw RequestError.invalidRequest({}, 'the connection is not open')
      return editor
    },
    () => capabilities.elicitation?.form != null,
  )

  /** What an editor is told of a session it has just opened; its commands follow. */
  function told(opened: Opened) {
    sessions.tellCommands(opened).catch((error: unknown) => note(`commands cannot be listed: ${messageOf(error)}`))
    return stateOf(opened)
  }

  async function begin(cwd: string, mcpServers: readonly unknown[] | undefined): Promise<Opened> {
    if (cwd !== '' && !isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, '"cwd" must be an absolute path')
    const opened = await sessions.create(cwd === '' ? directory : cwd)
    refuseServers(opened, mcpServers)
    return opened
  }

  const app = agent({ name: 'svc' })
    .onConnect((connection) => {
      editor = connection.client
    })
    .onRequest('initialize', ({ params }) => {
      capabilities = params.clientCapabilities ?? {}
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'svc', title: 'svc', version: VERSION },
        agentCapabilities: {
          loadSession: true,
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
        const opened = await begin(params.cwd, params.mcpServers)
        return { sessionId: opened.id, ...told(opened) }
      }),
    )
    .onRequest('session/load', ({ params }) =>
      answered(async () => {
        const opened = await sessions.open(params.sessionId, params.cwd)
        refuseServers(opened, params.mcpServers)
        await sessions.replay(opened)
        return told(opened)
      }),
    )
    .onRequest('session/resume', ({ params }) =>
      answered(async () => {
        const opened = await sessions.open(params.sessionId, params.cwd)
        refuseServers(opened, params.mcpServers)
        return told(opened)
      }),
    )
    .onRequest('session/fork', Fork, ({ params }) =>
      answered(async () => {
        const { id } = await client.sessions.fork({ sessionId: params.sessionId, body: {} })
        const opened = await sessions.open(id, undefined)
        return { sessionId: id, ...told(opened) }
      }),
    )
    .onRequest('session/list', ({ params }) =>
      answered(async () => {
        const { items, cursor } = await client.sessions.list({
          ...(params.cwd != null && { directory: params.cwd }),
          ...(params.cursor != null && { cursor: params.cursor }),
          roots: 'true',
          limit: 50,
        })
        const listed = items.map(({ id, directory: cwd, title, time }) => ({
          sessionId: id,
          cwd,
          title,
          updatedAt: new Date(time.updated).toISOString(),
        }))
        return { sessions: listed, ...(cursor.next !== undefined && { nextCursor: cursor.next }) }
      }),
    )
    .onRequest('session/close', ({ params }) => answered(async () => sessions.close(sessions.get(params.sessionId).id)))
  withChoices(app, sessions)
  return withPrompts(app, client, sessions)
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

function withPrompts(app: AgentApp, client: Client, sessions: Sessions): AgentApp {
  return app
    .onRequest('session/prompt', ({ params, signal }) =>
      answered(async () => {
        const opened = sessions.get(params.sessionId)
        const parts = promptParts(params.prompt)
        if (opened.choices.model === undefined) await requireModel(client, opened.cwd)
        const [first] = parts
        if (parts.length === 1 && first?.type === 'text' && first.text.trim() === '/compact') {
          await client.sessions.compact({ sessionId: opened.id })
          return { stopReason: 'end_turn' as const }
        }
        const stop = () => opened.turns.cancel()
        signal.addEventListener('abort', stop)
        const stopReason = await opened.turns
          .prompt({ parts, ...chosenFor(opened) })
          .finally(() => signal.removeEventListener('abort', stop))
        return { stopReason }
      }),
    )
    .onNotification('session/cancel', ({ params }) => sessions.get(params.sessionId).turns.cancel())
    .onRequest('session/cancel', SessionOnly, ({ params }) => answered(async () => sessions.get(params.sessionId).turns.cancel()))
}

function chosenFor({ choices: { agent: name, model, variant } }: Opened): Pick<PromptRequestInput, 'agent' | 'model' | 'variant'> {
  return { ...(name !== '' && { agent: name }), ...(model !== undefined && { model }), ...(variant !== undefined && { variant }) }
}

/** Servers that an editor brings are not connected: what it starts and where it goes is for the configuration to say. */
function refuseServers({ teller }: Opened, servers: readonly unknown[] | undefined): void {
  if (servers === undefined || servers.length === 0) return
  teller.send({
    sessionUpdate: 'notice',
    severity: 'warning',
    title: `${servers.length} MCP server(s) of the editor are not used: name them in the configuration of svc ("mcp").`,
  })
}

async function requireModel(client: Client, directory: string): Promise<void> {
  const { providers } = await client.providers.configured({ directory })
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

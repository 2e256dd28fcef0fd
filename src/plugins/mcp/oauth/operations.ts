/** The operations of `dev.svc.mcp` about signing in (http-contract §5.10; subsystems f.5). */
import type { NativePlugin } from '../../../ports/plugin.js'
import { SvcError, toFailure } from '../../../protocol/errors.js'
import { mcpAuthRoutes, McpCallbackQuery, McpCodeRequest } from '../../../protocol/mcp/mcp-auth.js'
import { isForPeople } from '../../../protocol/mcp/mcp-config.js'
import { McpServerParams, type McpStatus } from '../../../protocol/mcp/mcp.js'
import { mustFind } from '../operations.js'
import type { Connection } from '../servers/connection.js'
import type { Workspaces } from '../servers/workspaces.js'
import type { SignInPlace } from './place.js'
import type { SignIns } from './sign-ins.js'

type Operations = NonNullable<ReturnType<NativePlugin['start']>['operations']>

export interface AuthOperationDeps {
  readonly workspaces: Workspaces
  readonly signIns: SignIns
}

export function authOperations({ workspaces, signIns }: AuthOperationDeps): Operations {
  async function placeOf(directory: string, params: unknown): Promise<{ readonly place: SignInPlace; readonly connection: Connection }> {
    const connection = await mustFind({ workspaces }, directory, params)
    const { server, config } = connection
    if (isForPeople(config)) return { place: { server, config }, connection }
    throw new SvcError('request.invalid', `Nobody signs in to the MCP server "${server}".`, { server })
  }

  /** Whoever waits for a person to sign in is connected. */
  async function signedIn({ server, config }: SignInPlace): Promise<void> {
    const waiting = workspaces
      .all()
      .filter((each) => each.server === server && each.config.type === 'remote' && each.config.url === config.url)
    await Promise.all(waiting.map((each) => each.connect('requested')))
  }

  return {
    async [mcpAuthRoutes.authStart.id]({ directory, params }) {
      const { place, connection } = await placeOf(directory, params)
      try {
        return await signIns.start(place, directory)
      } catch (error) {
        if (signIns.isUnregistered(place.server)) await connection.connect('requested')
        throw error
      }
    },
    async [mcpAuthRoutes.authRemove.id]({ directory, params }) {
      const { place, connection } = await placeOf(directory, params)
      const hadCredentials = await signIns.hasCredentials(place.server, place.config.url)
      await signIns.remove(place)
      await connection.disconnect()
      if (hadCredentials) connection.noteSignedOut()
      return { success: true }
    },
    async [mcpAuthRoutes.authenticate.id]({ directory, params }): Promise<McpStatus> {
      const { place, connection } = await placeOf(directory, params)
      if (!(await signIns.hasCredentials(place.server, place.config.url))) return { status: 'needs_auth' }
      await connection.connect('requested')
      return connection.status
    },
    async [mcpAuthRoutes.callback.id]({ directory, params, body }): Promise<McpStatus> {
      const { place, connection } = await placeOf(directory, params)
      const { state, ...returned } = returnedBy(McpCodeRequest.parse(body).code)
      const taken = await signIns.take(place, state)
      if (taken === undefined)
        throw new SvcError('request.invalid', `No sign-in to "${place.server}" is under way.`, { server: place.server })
      await taken.finish(returned)
      await signedIn(place)
      return connection.status
    },
    async [mcpAuthRoutes.callbackPage.id]({ params, query }) {
      const { name } = McpServerParams.parse(params)
      const { code, state, iss, error } = McpCallbackQuery.parse(query)
      const failed = (why: string) => ({ status: 400, html: page('Not signed in', why) })
      if (state === undefined || state === '') return failed('The address lacks the state of a sign-in.')
      const directory = await signIns.directoryOf(name, state)
      if (directory !== undefined) await workspaces.connection(directory, name)
      for (const { server, config } of workspaces.all()) {
        if (server !== name || !isForPeople(config)) continue
        const place = { server, config }
        const taken = await signIns.take(place, state)
        if (taken === undefined) continue
        if (error !== undefined || code === undefined || code === '') {
          const why = `The authorization server refused: ${error ?? 'it sent no code'}.`
          taken.refuse(why)
          return failed(why)
        }
        try {
          await taken.finish({ code, iss })
        } catch (cause) {
          return failed(toFailure(cause).message)
        }
        void signedIn(place)
        return { status: 200, html: page('Signed in', `You are signed in to "${server}". This page can be closed.`) }
      }
      return failed('This sign-in is not known, was used before, or took too long. Begin it anew.')
    },
  }
}

/** A bare code, or the whole address that the browser came back to: an authorization server that names itself is checked by that. */
function returnedBy(text: string): { readonly code: string; readonly iss: string | undefined; readonly state: string | undefined } {
  const query = /^https?:/.test(text) && URL.canParse(text) ? new URL(text).searchParams : undefined
  if (query === undefined) return { code: text, iss: undefined, state: undefined }
  return { code: query.get('code') ?? '', iss: query.get('iss') ?? undefined, state: query.get('state') ?? '' }
}

function page(title: string, text: string): string {
  const escaped = text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body><h1>${title}</h1><p>${escaped}</p></body></html>\n`
}

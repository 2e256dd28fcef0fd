/**
 * The file `mcp-auth.json` of the state directory: who is signed in to which server (subsystems f.5).
 *
 * I1 What is stored for a server counts for its address only: under another one there is nothing.
 * I2 The file is for its owner alone and replaced as a whole; one that is not ours to read is never written over.
 * I3 Changes are made one after another. A second server cannot be on the same data, so nobody else makes any.
 * I4 Nothing of it is in any message.
 * I5 It never grows beyond what is read of it, and no server takes more of it than its share.
 */
import * as z from 'zod'
import type { NativeHost } from '../../../ports/plugin.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'

const Tokens = z.looseObject({
  accessToken: z.string(),
  tokenType: z.string().default('Bearer'),
  refreshToken: z.string().optional(),
  /** Unix seconds. */
  expiresAt: z.number().optional(),
  scope: z.string().optional(),
  issuer: z.string().optional(),
})
export type Tokens = z.infer<typeof Tokens>

const ClientInfo = z.looseObject({ clientId: z.string(), clientSecret: z.string().optional(), issuer: z.string().optional() })

/** Everything about one server. The members of an attempt are there while one is under way. */
export const ServerCredentials = z.looseObject({
  serverUrl: z.string(),
  tokens: Tokens.optional(),
  clientInfo: ClientInfo.optional(),
  /** What the registration and the attempt name. */
  oauthRedirectUri: z.string().optional(),
  codeVerifier: z.string().optional(),
  oauthState: z.string().optional(),
  oauthDirectory: z.string().optional(),
  /** When the attempt began, Unix ms. */
  oauthStarted: z.number().optional(),
  /** What was found about its authorization server. */
  discovery: z.record(z.string(), z.unknown()).optional(),
})
export type ServerCredentials = z.infer<typeof ServerCredentials>

const Document = z.record(z.string(), ServerCredentials)

export interface Credentials {
  /** What is stored for a server at this address. */
  get(server: string, url: string): Promise<ServerCredentials | undefined>
  /** Where the attempt to sign in to a server with this state was begun, at whatever address. */
  directoryOf(server: string, state: string): Promise<string | undefined>
  /** Changes that, and answers what it is then; undefined removes it. Throws `resource.conflict` when the file cannot be changed. */
  change(
    server: string,
    url: string,
    change: (before: ServerCredentials) => ServerCredentials | undefined,
  ): Promise<ServerCredentials | undefined>
}

export function createCredentials({ files, paths, log }: Pick<NativeHost['effects'], 'files' | 'paths' | 'log'>): Credentials {
  const path = `${paths.state}/mcp-auth.json`
  let known: { readonly identity: string | undefined; readonly document: z.infer<typeof Document> | undefined } | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function read(): Promise<z.infer<typeof Document> | undefined> {
    const identity = (await files.stat(path))?.identity
    if (known !== undefined && known.identity === identity) return known.document
    const document = identity === undefined ? {} : parse(await files.read(path, LIMITS.mcp.authFile))
    if (document === undefined) log.warn('the file of MCP credentials cannot be read: nobody is signed in', { path })
    known = { identity, document }
    return document
  }

  const of = (document: z.infer<typeof Document> | undefined, server: string, url: string) => {
    const found = document !== undefined && Object.hasOwn(document, server) ? document[server] : undefined
    return found?.serverUrl === url ? found : undefined
  }

  return {
    get: async (server, url) => of(await read(), server, url),
    async directoryOf(server, state) {
      const document = await read()
      const entry = document !== undefined && Object.hasOwn(document, server) ? document[server] : undefined
      return entry?.oauthState === state ? entry.oauthDirectory : undefined
    },
    change(server, url, change) {
      const work = changed(last)
      last = work.catch(() => undefined)
      return work

      async function changed(before: Promise<unknown>): Promise<ServerCredentials | undefined> {
        await before
        const document = await read()
        if (document === undefined)
          throw new SvcError('resource.conflict', `The file ${path} is malformed; nothing was changed. Repair it, or move it away.`, {
            path,
          })
        const after = change(of(document, server, url) ?? { serverUrl: url })
        const { [server]: _, ...others } = document
        const next = after === undefined ? others : { ...others, [server]: after }
        const text = `${JSON.stringify(next, null, 2)}\n`
        if (after !== undefined && bytesOf(JSON.stringify(after)) > LIMITS.mcp.authEntry)
          throw new SvcError('request.unprocessable', `What is to be kept about the sign-in to "${server}" is too much.`, { server })
        if (bytesOf(text) > LIMITS.mcp.authFile && after !== undefined)
          throw new SvcError('quota.exceeded', `The file ${path} has no room for "${server}"; sign out of another server first.`, {
            server,
          })
        await files.writeAtomic(path, text, { mode: 0o600 })
        known = undefined
        return after
      }
    },
  }
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}

function parse(bytes: Uint8Array): z.infer<typeof Document> | undefined {
  try {
    const text = new TextDecoder().decode(bytes)
    return text.trim() === '' ? {} : Document.parse(JSON.parse(text))
  } catch {
    return undefined // I4
  }
}

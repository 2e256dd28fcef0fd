/**
 * The file `mcp-auth.json` of the state directory: who is signed in to which server (subsystems f.5).
 *
 * A document file as others are (I1 to I5 there). A second server cannot be on the same data, so nobody else changes it.
 * What is stored for a server counts for its address only: under another one there is nothing.
 * No server takes more of it than its share.
 */
import * as z from 'zod'
import type { NativeHost } from '../../../ports/plugin.js'
import { SvcError } from '../../../protocol/errors.js'
import { LIMITS } from '../../../protocol/limits.js'
import { createDocumentFile } from '../../../kernel/document-file.js'

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
type Document = z.infer<typeof Document>

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
  const file = createDocumentFile<Document>({
    empty: {},
    parse: (value) => Document.parse(value),
    files,
    path,
    most: LIMITS.mcp.authFile,
    write: (document) => `${JSON.stringify(document, null, 2)}\n`,
    full: () => new SvcError('quota.exceeded', `The file ${path} has no room for another sign-in; sign out of a server first.`, { path }),
    onMalformed: () => log.warn('the file of MCP credentials cannot be read: nobody is signed in', { path }),
    malformed: () =>
      new SvcError('resource.conflict', `The file ${path} is malformed; nothing was changed. Repair it, or move it away.`, { path }),
  })
  return {
    get: async (server, url) => entryOf(await file.read(), server, url),
    async directoryOf(server, state) {
      const document = await file.read()
      const entry = document !== undefined && Object.hasOwn(document, server) ? document[server] : undefined
      return entry?.oauthState === state ? entry.oauthDirectory : undefined
    },
    change: (server, url, change) =>
      file.change((document) => {
        const after = change(entryOf(document, server, url) ?? { serverUrl: url })
        if (after !== undefined && bytesOf(after) > LIMITS.mcp.authEntry)
          throw new SvcError('request.unprocessable', `What is to be kept about the sign-in to "${server}" is too much.`, { server })
        const { [server]: _, ...others } = document
        return [after === undefined ? others : { ...others, [server]: after }, after]
      }),
  }
}

function entryOf(document: Document | undefined, server: string, url: string): ServerCredentials | undefined {
  const found = document !== undefined && Object.hasOwn(document, server) ? document[server] : undefined
  return found?.serverUrl === url ? found : undefined
}

function bytesOf(entry: ServerCredentials): number {
  return new TextEncoder().encode(JSON.stringify(entry)).length
}

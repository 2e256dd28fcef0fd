/** How a server of the Model Context Protocol is configured (http-contract §2.14 McpConfig; subsystems f.1). Pure. */
import * as z from 'zod'
import { isRecord } from '../text/json.js'
import { LIMITS } from '../limits.js'

const { timeout, timeoutMost, samplings, samplingsMost, samplingTokens, samplingTokensMost } = LIMITS.mcp

/** Names of servers: they stand in paths and in ids of tools. */
const SERVER_NAME = /^[A-Za-z0-9_.-]{1,64}$/

const texts = z.record(z.string(), z.string())
const common = {
  enabled: z.boolean().default(true),
  timeout: z.number().int().min(1).max(timeoutMost).default(timeout),
  /** Whether it may ask the model of the session that calls it, how often in a call, and for how long answers. */
  sampling: z
    .union([
      z.boolean(),
      z.strictObject({
        requests: z.number().int().min(1).max(samplingsMost).optional(),
        maxTokens: z.number().int().min(1).max(samplingTokensMost).optional(),
      }),
    ])
    .default(false),
}

const McpLocal = z
  .looseObject({
    ...common,
    type: z.literal('local'),
    command: z.union([z.string().min(1), z.array(z.string()).min(1)]),
    args: z.array(z.string()).default([]),
    environment: texts.optional(),
    env: texts.optional(),
  })
  .refine(({ command }) => (typeof command === 'string' ? command : (command[0] ?? '')).trim() !== '', {
    path: ['command'],
    message: 'must name a program',
  })

const httpAddress = z.string().refine(isHttp, 'must be an http or https address without a login')

const McpOAuthConfig = z.looseObject({
  /** A client of its own signs in, no person. */
  grant: z.literal('client_credentials').optional(),
  /** PEM, in the place of `clientSecret`. */
  privateKey: z.string().min(1).optional(),
  algorithm: z.enum(['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA']).optional(),
  /** The one authorization server that is signed in at. */
  issuer: httpAddress.optional(),
  /** Names the client, where authorization servers take an address for that. */
  clientMetadataUrl: z.string().refine(isDocument, 'must be an https address with a path').optional(),
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
  scope: z.string().optional(),
  redirectUri: httpAddress.optional(),
  authorizationUrl: httpAddress.optional(),
  tokenUrl: httpAddress.optional(),
  registrationUrl: httpAddress.optional(),
})
export type McpOAuthConfig = z.infer<typeof McpOAuthConfig>

const MACHINE_WANTED = 'with "grant" needs "clientId", "issuer", and either "clientSecret" or "privateKey"'

/** A client of its own that signs in to a server. */
export interface McpMachineClient extends Pick<McpOAuthConfig, 'clientSecret' | 'privateKey' | 'algorithm' | 'scope'> {
  readonly clientId: string
  readonly issuer: string
}

function readMachine(oauth: McpOAuthConfig): McpMachineClient | undefined {
  const { clientId, issuer, clientSecret, privateKey, algorithm, scope } = oauth
  if (clientId === undefined || issuer === undefined || (clientSecret === undefined) === (privateKey === undefined)) return undefined
  return { clientId, issuer, clientSecret, privateKey, algorithm, scope }
}

const McpRemote = z.looseObject({
  ...common,
  type: z.literal('remote'),
  url: httpAddress,
  headers: texts.default({}),
  oauth: z
    .union([z.literal(false), McpOAuthConfig])
    .refine((oauth) => oauth === false || oauth.grant === undefined || readMachine(oauth) !== undefined, MACHINE_WANTED)
    .optional(),
})

/** As a client may send it: anything else is kept and not used. */
export const McpConfig = z.discriminatedUnion('type', [McpLocal, McpRemote])
export type McpConfig = z.infer<typeof McpConfig>
export type McpLocal = Extract<McpConfig, { type: 'local' }>
export type McpRemote = Extract<McpConfig, { type: 'remote' }>

/** What a server may ask of the model, in one call; undefined = nothing. */
export function samplingOf({
  sampling,
}: Pick<McpConfig, 'sampling'>): { readonly requests: number; readonly maxTokens: number } | undefined {
  if (sampling === false) return undefined
  const { requests = samplings, maxTokens = samplingTokens } = sampling === true ? {} : sampling
  return { requests, maxTokens }
}

const VARIABLE = /\{env:([^{}]*)\}/g

/** Replaces `{env:NAME}` in values; one that is not set is the empty text (subsystems b.2). */
export function substituteVariables(
  values: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value.replace(VARIABLE, (_, variable: string) => variables[variable.trim()] ?? ''),
    ]),
  )
}

/** Program and arguments of a local server; a single text is the program and its words. */
export function commandLine({ command, args }: Pick<McpLocal, 'command' | 'args'>): readonly [string, ...string[]] {
  const words = typeof command === 'string' ? command.trim().split(/\s+/) : command
  const [program = '', ...rest] = words
  return [program, ...rest, ...args]
}

/** Undefined = a person signs in, or nobody. */
export function machineOf({ oauth }: Pick<McpRemote, 'oauth'>): McpMachineClient | undefined {
  return oauth === undefined || oauth === false || oauth.grant === undefined ? undefined : readMachine(oauth)
}

/** Whether people sign in to the server. */
export function isForPeople(config: McpConfig): config is McpRemote {
  return config.type === 'remote' && config.oauth !== false && machineOf(config) === undefined
}

/** Whether the configuration itself says who calls. */
export function hasAuthorization({ headers }: Pick<McpRemote, 'headers'>): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
}

function isDocument(text: string): boolean {
  return isHttp(text) && new URL(text).protocol === 'https:' && new URL(text).pathname !== '/'
}

function isHttp(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}

/** Why a configured server cannot be used: the rest of a sentence; undefined = it can, or is switched off. */
export function serverFault(name: string, value: unknown): string | undefined {
  if (!SERVER_NAME.test(name)) return 'its name must have 1 to 64 of A-Z, a-z, 0-9, "_", "." and "-"'
  if (isRecord(value) && (value['enabled'] === false || value['disabled'] === true)) return undefined
  const read = McpConfig.safeParse(value)
  if (read.success) return undefined
  const [issue] = read.error.issues
  const path = issue?.path.join('.') ?? ''
  return path === '' ? (issue?.message ?? 'it is not valid') : `"${path}": ${issue?.message ?? 'is not valid'}`
}

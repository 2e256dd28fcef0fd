/** Signing in at providers, and what a subscription has left (http-contract §2.4; subsystems c.7, c.8). */
import * as z from 'zod'
import { LIMITS } from '../limits.js'
import { defineRoute } from '../route.js'
import { directoryHeaders, directoryQuery, uint } from '../shared.js'

const text = z.string().max(LIMITS.connections.label)
const Condition = z.looseObject({ key: z.string(), op: z.enum(['eq', 'neq']), value: z.string() })

const ProviderAuthPrompt = z
  .looseObject({
    type: z.enum(['text', 'select']),
    key: z.string(),
    message: z.string(),
    placeholder: z.string().optional(),
    /** Of a text: it is not shown while it is typed. */
    secret: z.boolean().optional(),
    options: z.array(z.looseObject({ label: z.string(), value: z.string(), hint: z.string().optional() })).optional(),
    when: Condition.optional(),
  })
  .meta({ id: 'ProviderAuthPrompt' })
export type ProviderAuthPrompt = z.infer<typeof ProviderAuthPrompt>

const ProviderAuthMethod = z
  .looseObject({ type: z.enum(['api', 'oauth']), label: z.string(), prompts: z.array(ProviderAuthPrompt).optional() })
  .meta({ id: 'ProviderAuthMethod' })
export type ProviderAuthMethod = z.infer<typeof ProviderAuthMethod>

export const ProviderAuthMethods = z.record(z.string(), z.array(ProviderAuthMethod)).meta({ id: 'ProviderAuthMethods' })
export type ProviderAuthMethods = z.infer<typeof ProviderAuthMethods>

/** The place in the list of methods, as a number or its digits, or a kind: `browser`, `code`, `device`, `token`, `api`, `oauth`. */
const method = z.union([uint, text])

export const ProviderAuthorizeRequest = z
  .strictObject({
    method,
    inputs: z.record(z.string(), z.string().max(LIMITS.connections.label)).optional(),
    label: z.string().trim().min(1).max(LIMITS.connections.label).optional(),
    connectionId: text.optional(),
  })
  .meta({ id: 'ProviderAuthorizeRequest' })
export type ProviderAuthorizeRequest = z.infer<typeof ProviderAuthorizeRequest>

export const ProviderAuthAuthorization = z
  .looseObject({
    url: z.string(),
    method: z.enum(['auto', 'code']),
    instructions: z.string(),
    attemptId: z.string().optional(),
    expiresAt: uint.optional(),
  })
  .meta({ id: 'ProviderAuthAuthorization' })
export type ProviderAuthAuthorization = z.infer<typeof ProviderAuthAuthorization>

export const ProviderCallbackRequest = z
  .strictObject({ method, code: z.string().trim().min(1).max(LIMITS.signIn.code).nullish(), attemptId: text.optional() })
  .meta({ id: 'ProviderCallbackRequest' })
export type ProviderCallbackRequest = z.infer<typeof ProviderCallbackRequest>

const OpenAiUsageWindow = z
  .looseObject({
    label: z.string(),
    used_percent: z.number(),
    reset_at: z.number().nullable(),
    limit_window_seconds: z.number().nullable(),
  })
  .meta({ id: 'OpenAiUsageWindow' })
export type OpenAiUsageWindow = z.infer<typeof OpenAiUsageWindow>

const OpenAiAccountUsage = z
  .looseObject({
    connection_id: z.string(),
    label: z.string(),
    is_default: z.boolean(),
    auth_type: z.enum(['api', 'oauth', 'wellknown']),
    plan_type: z.string().nullable(),
    windows: z.array(OpenAiUsageWindow),
    error: z.string().nullable(),
  })
  .meta({ id: 'OpenAiAccountUsage' })
export type OpenAiAccountUsage = z.infer<typeof OpenAiAccountUsage>

export const OpenAiUsage = z.looseObject({ accounts: z.array(OpenAiAccountUsage) }).meta({ id: 'OpenAiUsage' })
export type OpenAiUsage = z.infer<typeof OpenAiUsage>

const provider = z.strictObject({ provider_id: z.string().min(1).max(LIMITS.connections.label) })
/** `W`: the workspace a connection is kept for, by its directory; absent = every workspace. */
const query = z.strictObject({ workspaceId: z.string().min(1).max(4096).optional() })
const common = { tag: 'catalog', access: { class: 'local' }, query } as const

export const signInRoutes = {
  methods: defineRoute({
    tag: 'catalog',
    access: { class: 'directory' },
    headers: directoryHeaders,
    query: z.strictObject(directoryQuery),
    id: 'v2.providers.authMethods',
    method: 'GET',
    path: '/v2/providers/auth-methods',
    summary: 'List the ways to connect each provider.',
    success: { status: 200, description: 'Methods by provider, best first.', schema: ProviderAuthMethods },
  }),
  usage: defineRoute({
    ...common,
    id: 'v2.providers.openai.usage',
    method: 'GET',
    path: '/v2/providers/openai/usage',
    summary: 'Tell how much of each subscription is used.',
    success: { status: 200, description: 'One entry for each connection; what went wrong with one is told in it.', schema: OpenAiUsage },
  }),
  authorize: defineRoute({
    ...common,
    id: 'v2.providers.oauth.authorize',
    method: 'POST',
    path: '/v2/providers/{provider_id}/oauth/authorize',
    params: provider,
    body: { schema: ProviderAuthorizeRequest, required: true },
    summary: 'Begin to sign in at a provider.',
    success: {
      status: 200,
      description: 'Where to go and what to do there; null when the method only needs a key.',
      schema: ProviderAuthAuthorization.nullable(),
    },
  }),
  callback: defineRoute({
    ...common,
    id: 'v2.providers.oauth.callback',
    method: 'POST',
    path: '/v2/providers/{provider_id}/oauth/callback',
    params: provider,
    body: { schema: ProviderCallbackRequest, required: true },
    summary: 'Wait for the end of a sign-in, or give its code.',
    success: { status: 200, description: 'True: the credential is stored.', schema: z.boolean() },
  }),
} as const

/**
 * The agent part of the configuration document: its keys, their other spellings and their types
 * (subsystems b.3). Keys that are not named here are kept as they are.
 */
import * as z from 'zod'
import { CompactionConfig } from './config.js'
import { uint } from '../shared.js'

const texts = z.array(z.string())
const open = z.record(z.string(), z.unknown())

/** `{group: action | {pattern: action}}`; an unknown action is not a type error, validation reports it (sessions-events §8.3). */
export const PermissionConfig = z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())]))
export type PermissionConfig = z.infer<typeof PermissionConfig>

const Variant = z.string().optional()

export const AgentConfig = z.looseObject({
  name: z.string().optional(),
  model: z.string().optional(),
  variant: Variant,
  temperature: z.number().optional(),
  topP: z.number().optional(),
  prompt: z.string().optional(),
  tools: z.record(z.string(), z.boolean()).optional(),
  disable: z.boolean().optional(),
  description: z.string().optional(),
  mode: z.enum(['primary', 'subagent', 'all']).optional(),
  hidden: z.boolean().optional(),
  options: open.optional(),
  color: z.string().optional(),
  steps: uint.optional(),
  permission: PermissionConfig.optional(),
  compaction: CompactionConfig.optional(),
})
export type AgentConfig = z.infer<typeof AgentConfig>

export const CommandConfig = z.looseObject({
  name: z.string().optional(),
  description: z.string().optional(),
  template: z.string().optional(),
  agent: z.string().optional(),
  model: z.string().optional(),
  subtask: z.boolean().optional(),
})
export type CommandConfig = z.infer<typeof CommandConfig>

export const ProviderModelConfig = z.looseObject({
  id: z.string().optional(),
  name: z.string().optional(),
  family: z.string().optional(),
  attachment: z.boolean().optional(),
  reasoning: z.boolean().optional(),
  temperature: z.boolean().optional(),
  toolCall: z.boolean().optional(),
  limit: z.looseObject({ context: uint.optional(), output: uint.optional(), input: uint.optional() }).optional(),
  options: open.optional(),
  headers: z.record(z.string(), z.string()).optional(),
  variants: z.record(z.string(), open).optional(),
  compaction: CompactionConfig.optional(),
})
export type ProviderModelConfig = z.infer<typeof ProviderModelConfig>

/** How to sign in at a provider (subsystems c.7). Of the installation alone: a workspace that names it is not heard. */
export const SignInConfig = z.looseObject({
  /** As the vendor has registered this installation. */
  clientId: z.string().optional(),
  /** The authorization server; its metadata say where it is asked, unless the addresses are given. */
  issuer: z.string().optional(),
  authorizationUrl: z.string().optional(),
  tokenUrl: z.string().optional(),
  deviceUrl: z.string().optional(),
  /** Where the vendor sends a browser back to: an address of this machine. Without a port any free one is taken. */
  redirectUrl: z.string().optional(),
  /** A page of the vendor that shows a code to be pasted. */
  codeRedirectUrl: z.string().optional(),
  scope: z.string().optional(),
  /** More parameters of the request for authorization. */
  parameters: z.record(z.string(), z.string()).optional(),
  /** Ways to sign in that are offered; absent = those the addresses allow. */
  methods: z.array(z.enum(['browser', 'code', 'device'])).optional(),
  /** Where models are asked with what a sign-in brings; absent = the address of the provider. */
  baseURL: z.string().optional(),
  /** Limits of models with what a sign-in brings, where they are others. */
  limit: z.looseObject({ context: uint, output: uint, input: uint.optional() }).optional(),
  /** Tells how much of a subscription is used. */
  usageUrl: z.string().optional(),
})
export type SignInConfig = z.infer<typeof SignInConfig>

/** `agent.provider.<id>` (service.md, Provider configuration). */
export const ProviderConfig = z.looseObject({
  name: z.string().optional(),
  npm: z.string().optional(),
  auth: z.enum(['none', 'optional', 'required']).optional(),
  options: z.looseObject({ baseURL: z.string().optional() }).optional(),
  env: texts.optional(),
  discoverModels: z.boolean().optional(),
  models: z.record(z.string(), ProviderModelConfig).optional(),
  compatibility: z.looseObject({ streamUsage: z.boolean().optional(), reasoningEffort: z.boolean().optional() }).optional(),
  signIn: SignInConfig.optional(),
})
export type ProviderConfig = z.infer<typeof ProviderConfig>

/** What callers of other tenants may (subsystems d.9). Of the installation alone. */
export const HostedConfig = z.looseObject({
  /** `sandbox`, `native` or `off`; an unknown value is the careful one, and told. */
  execution: z.string().optional(),
  providers: texts.optional(),
})
export type HostedConfig = z.infer<typeof HostedConfig>

/** The agent document in its flat, normalised form. */
const most = z.number().min(0).optional()

/** What may lie in the state directory: mebibytes, and days. A value that cannot be read counts as absent. */
export const StorageConfig = z.looseObject({
  eventsDays: most,
  eventsMiB: most,
  outputsDays: most,
  outputsMiB: most,
  undoMiB: most,
  searchDays: most,
  searchMiB: most,
  artifactsDays: most,
  artifactsMiB: most,
})
export type StorageConfig = z.infer<typeof StorageConfig>

export const AgentDocument = z.looseObject({
  $schema: z.string().optional(),
  shell: z.union([z.string(), z.looseObject({ program: z.string(), args: texts.optional() })]).optional(),
  model: z.string().optional(),
  smallModel: z.string().optional(),
  variant: Variant,
  textVerbosity: z.enum(['low', 'medium', 'high']).optional(),
  defaultAgent: z.string().optional(),
  agent: z.record(z.string(), AgentConfig).optional(),
  command: z.record(z.string(), CommandConfig).optional(),
  plugin: z.array(z.unknown()).optional(),
  plugins: open.optional(),
  provider: z.record(z.string(), ProviderConfig).optional(),
  enabledProviders: texts.optional(),
  disabledProviders: texts.optional(),
  skills: z.looseObject({ paths: texts.optional(), urls: texts.optional() }).optional(),
  mcp: z.record(z.string(), open).optional(),
  lsp: z.union([z.boolean(), open]).optional(),
  formatter: z.union([z.boolean(), open]).optional(),
  permission: PermissionConfig.optional(),
  dangerouslySkipPermissions: z.boolean().optional(),
  tools: z.record(z.string(), z.boolean()).optional(),
  instructions: texts.optional(),
  compaction: CompactionConfig.optional(),
  watcher: z.looseObject({ ignore: texts.optional() }).optional(),
  share: z.enum(['manual', 'auto', 'disabled']).optional(),
  autoshare: z.boolean().optional(),
  autoupdate: z.union([z.boolean(), z.literal('notify')]).optional(),
  username: z.string().optional(),
  experimental: open.optional(),
  network: z.looseObject({ localModels: z.boolean().optional() }).optional(),
  hosted: HostedConfig.optional(),
  /** An unknown value of `acceptance` is the careful one, and told. */
  workflows: z.looseObject({ acceptance: z.string().optional() }).optional(),
  storage: StorageConfig.optional(),
})
export type AgentDocument = z.infer<typeof AgentDocument>

/** Names of settings that do not exist yet and would belong to the installation alone. */
export const INSTALLATION_KEYS = ['server', 'cors', 'auth', 'trust', 'limits'] as const

/** Groups of a client's own settings: kept verbatim, never interpreted, except `terminal.shell`. */
const EDITOR_GROUPS = ['appearance', 'editor', 'terminal', 'ui', 'presence', 'keybinds', 'renderer', 'developer', 'platform'] as const

const VARIANT_ALIASES = { thinking: 'variant', reasoning: 'variant', reasoningEffort: 'variant', 'reasoning-effort': 'variant' }
const DOCUMENT_KEYS = [...Object.keys(AgentDocument.shape), 'mode']
const DOCUMENT = spellings(DOCUMENT_KEYS, VARIANT_ALIASES)
const AGENT = spellings(Object.keys(AgentConfig.shape), { ...VARIANT_ALIASES, maxSteps: 'steps', 'max-steps': 'steps' })
const COMMAND = spellings(Object.keys(CommandConfig.shape))
const PROVIDER = spellings(Object.keys(ProviderConfig.shape))
const PROVIDER_OPTIONS = spellings(['baseURL', 'apiKey'], { 'base-url': 'baseURL', baseUrl: 'baseURL' })
const MODEL = spellings(Object.keys(ProviderModelConfig.shape))
const COMPATIBILITY = spellings(['streamUsage', 'reasoningEffort'])
const COMPACTION = spellings(['auto', 'buffer', 'keep', 'prune'], { thresholdPercent: 'threshold-percent' })
const EXPERIMENTAL = spellings(['disablePasteSummary', 'batchTool', 'openTelemetry', 'primaryTools'])

/** The canonical spelling of `key` in the flat document at `path`: kebab-case and other aliases become the documented name. */
export function canonicalKey(path: readonly string[], key: string): string {
  return spellingsAt(path)?.get(key) ?? key
}

const ALIASED_GROUPS = ['agent', 'mode', 'command', 'provider', 'compaction', 'experimental']

/** Whether any key at `path` or below it may have another spelling. */
export function hasAliases(path: readonly string[]): boolean {
  const [group] = path
  return group === undefined || ALIASED_GROUPS.includes(group)
}

/** Whether a key, in any spelling, is a setting of compaction. */
export function isCompactionKey(key: string): boolean {
  return Object.hasOwn(CompactionConfig.shape, key) || COMPACTION.has(key)
}

/** Whether a key, in any spelling, belongs to the agent document. */
export function isAgentDocumentKey(key: string): boolean {
  return DOCUMENT_KEYS.includes(canonicalKey([], key))
}

/** Whether a top-level key is one svc knows at all. */
export function isKnownKey(key: string): boolean {
  return isAgentDocumentKey(key) || isEditorGroup(key)
}

export function isEditorGroup(key: string): boolean {
  return EDITOR_GROUPS.some((group) => group === key)
}

function spellingsAt(path: readonly string[]): ReadonlyMap<string, string> | undefined {
  const [group, , inner] = path
  if (path.length === 0) return DOCUMENT
  if (group === 'compaction' && path.length === 1) return COMPACTION
  if (group === 'experimental' && path.length === 1) return EXPERIMENTAL
  if ((group === 'agent' || group === 'mode') && path.length === 2) return AGENT
  if ((group === 'agent' || group === 'mode') && path.length === 3 && inner === 'compaction') return COMPACTION
  if (group === 'command' && path.length === 2) return COMMAND
  if (group !== 'provider') return undefined
  if (path.length === 2) return PROVIDER
  if (path.length === 3 && inner === 'options') return PROVIDER_OPTIONS
  if (path.length === 3 && inner === 'compatibility') return COMPATIBILITY
  if (inner === 'models' && path.length === 5 && path[4] === 'compaction') return COMPACTION
  return path.length === 4 && inner === 'models' ? MODEL : undefined
}

function spellings(keys: readonly string[], aliases: Readonly<Record<string, string>> = {}): ReadonlyMap<string, string> {
  const kebab = keys.map((key): [string, string] => [key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), key])
  return new Map([...kebab, ...Object.entries(aliases)])
}

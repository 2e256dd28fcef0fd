/** The environment variables of svc: which there are, and how the value of each is read, so that none is passed over in silence (choice 23). */

type Env = Readonly<Record<string, string | undefined>>

interface Form {
  /** Whether a value that is not empty can be read. */
  readonly isRead: (value: string) => boolean
  /** The rest of a sentence: "it is not …". */
  readonly expected: string
}

const text: Form = { isRead: () => true, expected: 'text' }
const ON = ['1', 'true', 'yes', 'on']
const OFF = ['0', 'false', 'no', 'off']

const whole = (least: 0 | 1): Form => ({
  isRead: (value) => WHOLE.test(value) && Number(value) >= least,
  expected: `a whole number of at least ${least}`,
})
const WHOLE = /^\d{1,9}$/

const words = (...allowed: readonly string[]): Form => ({
  isRead: (value) => allowed.includes(value.trim().toLowerCase()),
  expected: `one of ${allowed.join(', ')}`,
})
const wish = words(...ON, ...OFF)

const address: Form = {
  isRead: (value) => URL.canParse(value.trim()) && /^https?:$/.test(new URL(value.trim()).protocol),
  expected: 'an address of http or https',
}
const hosts: Form = {
  isRead: (value) => value.split(',').every((host) => /^(?:[\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host.trim())),
  expected: 'a list of hosts, separated by commas',
}
const qualifiedModel: Form = { isRead: (value) => /^[^/]+\/.+$/.test(value.trim()), expected: 'of the form provider/model' }

/** As published (subsystems b.1): no other spelling switches projects off. */
const TRUTHY: readonly string[] = ['1', 'true', 'TRUE', 'yes', 'YES']

const FORMS: Readonly<Record<string, Form>> = {
  SVC_AGENT_TOKEN: text,
  SVC_AGENT_AUTH_CONFIG: text,
  SVC_DAEMON_TOKEN: text,
  SVC_AGENT_ALLOW_UNAUTHENTICATED_REMOTE: words('1', '0'),
  SVC_AGENT_STATE_DIR: text,
  SVC_AGENT_CACHE_DIR: text,
  SVC_AGENT_CONFIG: text,
  SVC_AGENT_CONFIG_DIR: text,
  SVC_AGENT_CONFIG_CONTENT: text,
  SVC_AGENT_DISABLE_PROJECT_CONFIG: { isRead: (value) => [...TRUTHY, ...OFF].includes(value), expected: `one of ${TRUTHY.join(', ')}` },
  SVC_AGENT_MODEL: text,
  SVC_AGENT_PROVIDER: text,
  SVC_AGENT_PLUGIN_SANDBOX: words('required', '1', 'true', 'off', '0', 'false', 'auto'),
  SVC_AGENT_PROVIDER_MAX_RETRIES: whole(0),
  SVC_AGENT_PROVIDER_RETRY_INITIAL_MS: whole(0),
  SVC_AGENT_PROVIDER_RETRY_MAX_MS: whole(0),
  SVC_AGENT_PROVIDER_STREAM_IDLE_TIMEOUT_MS: whole(1),
  SVC_DISPLAY_NAME: text,
  SVC_SERVER: address,
  SVC_AGENT_METRICS: wish,
  SVC_AGENT_PERF_LOG: wish,
  SVC_LOG_MIB: whole(1),
  SVC_LOG: words('debug', 'info', 'warn', 'error', 'silent'),
  SVC_AGENT_AUTO_COMPACT: wish,
  SVC_AGENT_AUTO_COMPACT_TOKENS: whole(0),
  SVC_AGENT_COMPACTION_RESERVED_TOKENS: whole(0),
  SVC_AGENT_OUTPUT_TOKEN_MAX: whole(0),
  SVC_AGENT_MODEL_COMPACTION: wish,
  SVC_AGENT_MODEL_COMPACTION_TIMEOUT_SECS: whole(0),
  SVC_AGENT_MANAGEMENT_API: wish,
  SVC_AGENT_MODELS_URL: address,
  SVC_AGENT_MODELS_PATH: text,
  SVC_AGENT_MODELS_FETCH: wish,
  SVC_AGENT_AUTH_PATH: text,
  SVC_AGENT_AUTH_CONTENT: text,
  SVC_AGENT_WEBFETCH_HOSTS: hosts,
  SVC_AGENT_WEBSEARCH_ENDPOINT: address,
  SVC_AGENT_WEBSEARCH_KEY: text,
  SVC_AGENT_EMBEDDINGS_MODEL: qualifiedModel,
  SVC_AGENT_EMBEDDINGS_URL: address,
  SVC_AGENT_DISABLE_EMBEDDINGS: wish,
}

/** Addresses of vendors, for whatever vendors there are. */
const VENDOR_ADDRESS = /^SVC_AGENT_[A-Z0-9_]+_BASE_URL$/
/** Programs of external agents, one for each of `ExternalProvider`. */
const AGENT_COMMAND = /^SVC_EXTERNAL_(?:OPENCODE|CLAUDE|CODEX)_COMMAND$/
const command: Form = {
  isRead(value) {
    try {
      const words: unknown = JSON.parse(value)
      return Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string')
    } catch {
      return false
    }
  },
  expected: 'a JSON array of words, the program first',
}
/** `URL` is the address of a server, as programs of the documents read it. */
const OURS = /^SVC_(?!TEST_|URL$)/

export const VARIABLES: readonly string[] = Object.keys(FORMS)

/** Set by svc for the programs it starts, which may be svc again. */
export const GIVEN: ReadonlySet<string> = new Set(
  `SVC_AGENT_SERVER_URL SVC_PLUGIN_ID SVC_PLUGIN_PROTOCOL SVC_PLUGIN_INSTANCE_ID SVC_WORKSPACE_DIR SVC_TERMINAL SVC_PROCESS_MARK`.split(
    /\s+/,
  ),
)

/** A whole number that the table has; undefined where there is none that can be read. */
export function wholeNumber(env: Env, name: string): number | undefined {
  const value = env[name]
  return value !== undefined && FORMS[name]?.isRead(value) === true ? Number(value) : undefined
}

/** Whether a variable wishes for something, or that it is not; undefined where it says neither. */
export function wishOf(env: Env, name: string): boolean | undefined {
  const value = env[name]?.trim().toLowerCase() ?? ''
  if (ON.includes(value)) return true
  return OFF.includes(value) ? false : undefined
}

export function isTruthy(value: string | undefined): boolean {
  return value !== undefined && TRUTHY.includes(value)
}

/** Variables of svc that are set to something and not read, by name. */
export function unreadVariables(env: Env): readonly string[] {
  return Object.keys(env)
    .filter((name) => OURS.test(name) && env[name] !== '' && formOf(name) === undefined && !GIVEN.has(name))
    .toSorted()
}

/** Variables whose value cannot be read, which counts as if it were not there; values are not told, they may be secrets. */
export function unreadValues(env: Env): readonly { readonly name: string; readonly problem: string }[] {
  return Object.keys(env)
    .toSorted()
    .flatMap((name) => {
      const [form, value] = [formOf(name), env[name] ?? '']
      return form === undefined || value.trim() === '' || form.isRead(value) ? [] : [{ name, problem: `its value is not ${form.expected}` }]
    })
}

function formOf(name: string): Form | undefined {
  if (Object.hasOwn(FORMS, name)) return FORMS[name]
  if (AGENT_COMMAND.test(name)) return command
  return VENDOR_ADDRESS.test(name) ? address : undefined
}

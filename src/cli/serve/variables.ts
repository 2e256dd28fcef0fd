/** Which environment variables svc reads, so that one without effect is not passed over in silence (decision 23). */

export const READ = new Set(
  `SVC_AGENT_TOKEN SVC_AGENT_AUTH_CONFIG SVC_AGENT_ALLOW_UNAUTHENTICATED_REMOTE SVC_AGENT_STATE_DIR SVC_AGENT_CACHE_DIR SVC_AGENT_CONFIG
  SVC_AGENT_CONFIG_DIR SVC_AGENT_CONFIG_CONTENT SVC_AGENT_DISABLE_PROJECT_CONFIG SVC_AGENT_PLUGIN_SANDBOX SVC_AGENT_PROVIDER_MAX_RETRIES
  SVC_AGENT_PROVIDER_RETRY_INITIAL_MS SVC_AGENT_PROVIDER_RETRY_MAX_MS SVC_AGENT_PROVIDER_STREAM_IDLE_TIMEOUT_MS SVC_DISPLAY_NAME SVC_SERVER
  SVC_LOG SVC_AGENT_AUTO_COMPACT SVC_AGENT_AUTO_COMPACT_TOKENS SVC_AGENT_COMPACTION_RESERVED_TOKENS SVC_AGENT_OUTPUT_TOKEN_MAX
  SVC_AGENT_MODEL_COMPACTION SVC_AGENT_MODEL_COMPACTION_TIMEOUT_SECS SVC_AGENT_MANAGEMENT_API SVC_AGENT_MODELS_URL SVC_AGENT_MODELS_PATH
  SVC_AGENT_MODELS_FETCH SVC_AGENT_AUTH_PATH SVC_AGENT_AUTH_CONTENT SVC_AGENT_WEBFETCH_HOSTS SVC_AGENT_WEBSEARCH_ENDPOINT SVC_AGENT_WEBSEARCH_KEY
  SVC_AGENT_EMBEDDINGS_MODEL SVC_AGENT_EMBEDDINGS_URL SVC_AGENT_DISABLE_EMBEDDINGS`.split(/\s+/),
)
/** Set by svc for the programs it starts, which may be svc again. */
export const GIVEN = new Set(
  `SVC_AGENT_SERVER_URL SVC_PLUGIN_ID SVC_PLUGIN_PROTOCOL SVC_PLUGIN_INSTANCE_ID SVC_WORKSPACE_DIR SVC_TERMINAL SVC_PROCESS_MARK`.split(
    /\s+/,
  ),
)
/** `URL` is the address of a server, as programs of the documents read it. */
const OURS = /^SVC_(?!TEST_|URL$)/
/** Addresses of vendors, for whatever vendors there are. */
const ADDRESS = /^SVC_AGENT_[A-Z0-9_]+_BASE_URL$/

/** Variables of svc that are set to something and not read, by name. */
export function unreadVariables(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.keys(env)
    .filter((name) => OURS.test(name) && env[name] !== '' && !READ.has(name) && !GIVEN.has(name) && !ADDRESS.test(name))
    .toSorted()
}

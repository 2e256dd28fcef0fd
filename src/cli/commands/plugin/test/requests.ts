/** Requests of a host, where nothing else is said (plugin-protocol §4.6, §8.2). */
export const METHOD_OF_SERVICE = {
  agents: 'agent.list',
  commands: 'command.list',
  skills: 'skill.list',
  systemContext: 'systemContext.sections',
  prompts: 'prompt.render',
  config: 'config.load',
} as const

export const ROUTE_REQUEST = {
  tenantId: null,
  hosted: false,
  workspaceId: '/workspace',
  workspace: '/workspace',
  sessionId: null,
  actor: null,
  path: {},
  query: {},
  headers: {},
  body: null,
}

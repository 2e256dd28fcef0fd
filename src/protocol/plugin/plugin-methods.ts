/** What the host asks of plugins and tells them (plugin-protocol §4.6, service.md "Plugin process protocol" 2). */
export const PLUGIN_METHODS = [
  'initialize',
  'shutdown',
  'event',
  'tool.invoke',
  'hook.invoke',
  'agent.list',
  'command.list',
  'skill.list',
  'systemContext.sections',
  'config.load',
  'prompt.render',
  'provider.metadata',
  'provider.auth',
  'provider.route',
  'provider.media',
  'provider.stream',
  'route.handle',
  'route.websocket.open',
  'route.websocket.message',
  '$/cancel',
  '$/cancelStream',
] as const

export type PluginMethod = (typeof PLUGIN_METHODS)[number]

/** `svc plugin`: each action is loaded when it is asked for. */
import type { PluginOptions } from './plugin-arguments.js'

/** Runs one action; answers the exit code: 0 done, 1 refused or something is wrong. */
export async function plugin(options: PluginOptions): Promise<number> {
  switch (options.action) {
    case 'init':
      return (await import('./make/plugin-init.js')).initPlugin(options)
    case 'add':
      return (await import('./install/plugin-add.js')).addPlugin(options)
    case 'update':
      return (await import('./install/plugin-add.js')).updatePlugin(options)
    case 'pack':
      return (await import('./author/plugin-pack.js')).packPlugin(options)
    case 'list':
      return (await import('./plugin-list.js')).listPlugins(options)
    case 'trust':
      return (await import('./plugin-trust.js')).trustPlugin(options)
    case 'configure':
      return (await import('./plugin-configure.js')).configurePlugin(options)
    case 'dev':
      return (await import('./author/plugin-dev.js')).developPlugin(options)
    case 'test':
      return options.tool === undefined
        ? (await import('./test/plugin-test.js')).testPackage(options)
        : (await import('./plugin-call.js')).callPlugin({ ...options, tool: options.tool })
    case 'untrust':
      return (await import('./plugin-untrust.js')).untrustPlugin(options)
    case 'remove':
      return (await import('./plugin-untrust.js')).removePlugin(options)
    case 'restore':
      return (await import('./plugin-restore.js')).restorePlugin(options)
    case 'disable':
    case 'enable':
      return (await import('./plugin-switch.js')).switchPlugin(options.action === 'enable', options)
    case 'doctor':
      return (await import('./plugin-doctor.js')).pluginDoctor(options)
  }
}

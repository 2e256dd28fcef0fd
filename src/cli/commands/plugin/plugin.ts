/** `svc plugin`: each action is loaded when it is asked for. */
import type { PluginOptions } from './plugin-arguments.js'

/** Runs one action; answers the exit code: 0 done, 1 refused or something is wrong. */
export async function plugin(options: PluginOptions): Promise<number> {
  switch (options.action) {
    case 'init':
      return (await import('./plugin-init.js')).initPlugin(options)
    case 'list':
      return (await import('./plugin-list.js')).listPlugins(options)
    case 'trust':
      return (await import('./plugin-trust.js')).trustPlugin(options)
    case 'configure':
      return (await import('./plugin-configure.js')).configurePlugin(options)
    case 'dev':
      return (await import('./plugin-dev.js')).developPlugin(options)
    case 'test':
      return (await import('./plugin-test.js')).testPlugin(options)
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

import { plugin } from './plugin.js'
import { runPlugin } from './svc-plugin.js'

await runPlugin(plugin)

import { createChangelog } from './changelog.js'
import { runPlugin } from './svc-plugin.js'

await runPlugin(createChangelog())

/** `svc/plugin`: what process plugins written for Node import (plugin-protocol §11). */
import { createHost } from './test-host.js'
import type { CreateTestHost, DefinePlugin } from './test-types.js'

export { runPlugin } from './node-stdio.js'

export const definePlugin: DefinePlugin = (plugin) => plugin

export const createTestHost: CreateTestHost = createHost

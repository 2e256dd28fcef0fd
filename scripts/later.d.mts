import type { Plugin } from 'esbuild'

export const LATER: Plugin
export const OF_NODE: Plugin

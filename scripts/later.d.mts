import type { Plugin } from 'esbuild'

export const LATER: Plugin

/** All migrations, in their order. One that was released never changes; the build takes the files into the program. */
import begin from './migrations/1-begin.sql'
import type { Migration } from './migrate.js'

export const MIGRATIONS: readonly Migration[] = [{ id: 1, statements: begin }]

/** What is asked of git, and of repositories without it (threat-model V1, V2; choice 16). */

/** Git for the repository of a directory. */
export interface Git {
  /** Undefined outside of a repository, and in one without a worktree. Throws `request.unprocessable` for one whose parts cannot be trusted. */
  open(directory: string): Promise<Checkout | undefined>
  /** Treats a canonical directory as the worktree of a repository without commits, for what needs none. */
  apart(directory: string): Promise<Checkout>
}

export interface Checkout {
  /** Canonical root of the worktree. */
  readonly worktree: string
  /** Canonical; HEAD and the index are here. */
  readonly gitDirectory: string
  /** Short name of the branch that is checked out; undefined when HEAD is detached. */
  readonly branch: string | undefined
  /** Short name of the branch the remote `origin` begins with; undefined when none is known. */
  readonly defaultBranch: string | undefined
  /** What is compared with: the commit that is checked out, or the empty tree before the first. */
  readonly base: string
  /** Runs `git <args>` in a directory of the worktree. Throws `SvcError` when git is missing, takes too long or says too much. */
  run(args: GitArguments, call: GitCall): Promise<GitResult>
  /**
   * Hands over what makes git see an index of these files alone, as added and not yet looked at: paths from the root of the worktree, as bytes,
   * once each. The index of the repository stays as it is.
   */
  withAdded<T>(paths: readonly Uint8Array[], use: (env: Readonly<Record<string, string>>) => Promise<T>): Promise<T>
}

/** What svc asks of git: commands that compare, list, tell and patch, and look into no repository inside. */
export type GitArguments = readonly [
  command: 'apply' | 'cat-file' | 'check-attr' | 'diff' | 'diff-tree' | 'ls-files' | 'ls-tree' | 'status',
  ...operands: readonly string[],
]

export interface GitCall {
  readonly signal: AbortSignal
  /** Default: the root of the worktree. */
  readonly cwd?: string
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface GitResult {
  readonly exitCode: number | null
  readonly stdout: Uint8Array
  /** At most `LIMITS.vcs.errorText` characters. */
  readonly stderr: string
}

export interface ReadFile {
  /** Canonical. */
  readonly path: string
  readonly bytes: Uint8Array
}

export type Origin =
  | { readonly from: 'elsewhere' }
  /** `isCertain` is false for what could not be told, and may be another time. */
  | { readonly from: 'checkout'; readonly reason: string; readonly isCertain: boolean }

/** Whether files came with a checkout. */
export interface Checkouts {
  /** Of each file, in order. Never rejects. */
  origins(files: readonly ReadFile[]): Promise<readonly Origin[]>
}

/** What repositories name for git to start. */
export interface NamedPrograms {
  /** One text for each program that `git <command>` may start in a directory because its repository says so. Never rejects. */
  named(directory: string, command: string): Promise<readonly string[]>
}

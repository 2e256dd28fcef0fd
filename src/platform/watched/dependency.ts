/** A path that was asked about and what it must still be: its whole identity, only its kind, or as safe from others as it was. */
export interface Dependency {
  readonly path: string
  readonly by: 'identity' | 'kind' | 'exposure'
  readonly value: string
}

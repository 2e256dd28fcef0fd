/** What `svc models` and `svc providers` were asked for. */

export interface PlaceOptions {
  /** undefined = the current directory. */
  readonly directory: string | undefined
  readonly server: string | undefined
  readonly json: boolean
}

export interface ModelsOptions extends PlaceOptions {
  readonly provider: string | undefined
  readonly verbose: boolean
}

export interface ProvidersOptions extends PlaceOptions {
  readonly all: boolean
}

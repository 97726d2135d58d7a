// What a key is called on these pages: by its name, but for that of the sandbox, which nobody named. Pure.

type Service = { sandbox?: boolean | undefined } | undefined

/** The operator's own key is named for its variable, and no other may have this name. In the sandbox nobody set it. */
export function keyNameOf(name: string, service: Service): string {
  return name === 'ALMANAC_KEY' && service?.sandbox === true ? 'key of the sandbox' : name
}

// The picture of a token in a box of fixed size, and a quiet one with its id where there is none. Only this service is
// asked for pictures, and they are loaded as images alone: nothing within them runs.
import { useSignal } from '@preact/signals'
import { shortText } from '../quantities.ts'
import type { Schemas } from '../state/service.ts'
import { isSet } from './nft-links.tsx'
import './picture.css'

type Pictured = Pick<Schemas['NftOwner'], 'token_id' | 'possible_spam' | 'media'>

/** Undefined where there is none to show. Tokens that are sent to strangers draw nothing on their pages. */
export function pictureOf({ possible_spam, media }: Pictured): string | undefined {
  if (isSet(possible_spam) || media == null) return undefined
  // Of what lies on the web: opening the link has it fetched.
  const fetched = media.media_collection?.medium.url
  const isThere = media.status === 'success' && media.category === 'image'
  if (!isThere && !(media.status === 'processing' && fetched !== undefined)) return undefined
  const link = URL.parse(fetched ?? media.original_media_url ?? '')
  // By the path alone: behind a proxy the service may not know its own scheme.
  return link?.pathname.startsWith('/media/') ? link.pathname + link.search : undefined
}

/** What it shows is said beside it, unless `alt` says it. */
export function Picture({ of, size, alt = '' }: { of: Pictured; size: 'small' | 'card' | 'large'; alt?: string }) {
  const failed = useSignal<string | undefined>(undefined)
  const source = pictureOf(of)
  return (
    <span class={`picture ${size}`}>
      {source === undefined || source === failed.value ? (
        <span aria-hidden="true">{size === 'small' ? '' : `#${shortText(of.token_id, 4)}`}</span>
      ) : (
        <img
          src={source}
          alt={alt}
          loading="lazy"
          decoding="async"
          width={400}
          height={400}
          onError={() => {
            failed.value = source
          }}
        />
      )}
    </span>
  )
}

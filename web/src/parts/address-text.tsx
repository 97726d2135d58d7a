// An address as people know it: by its label or its short form, leading to its page, and to be copied.

import { useLabel } from '../state/labels.ts'
import { hrefOf } from '../state/route.ts'
import { ReferenceText } from './reference-text.tsx'

export const zeroAddress = '0x0000000000000000000000000000000000000000'

type Props = {
  address: string
  chain: string
  /** Where an answer tells it; undefined: it is looked up. */
  label?: string | null | undefined
  /** Which view of the wallet. */
  list?: string
}

/** A wallet. What every mint comes from and every burn goes to is nobody's. */
export function AddressText({ address, chain, label, list = 'nfts' }: Props) {
  const known = useLabel(chain, address, address === zeroAddress ? null : label)
  if (address === zeroAddress) return <span class="soft">null address</span>
  const href = hrefOf(list === '' ? ['wallet', address] : ['wallet', address, list], { chain })
  return <ReferenceText text={address} what="address" label={known} href={href} />
}

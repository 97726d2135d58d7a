// A page whose code is loaded when it is first shown.
import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { Skeleton } from './parts/skeleton.tsx'

export type LazyPage<Props> = {
  id: number
  load: () => Promise<ComponentType<Props>>
  /** Once it is loaded. */
  loaded: ComponentType<Props> | undefined
}

let made = 0

export function lazily<Props>(load: () => Promise<ComponentType<Props>>): LazyPage<Props> {
  let loading: Promise<ComponentType<Props>> | undefined
  const page: LazyPage<Props> = {
    id: made++,
    loaded: undefined,
    load: () => {
      loading ??= load().then(
        component => {
          page.loaded = component
          return component
        },
        error => {
          // The next look tries again.
          loading = undefined
          throw error
        },
      )
      return loading
    },
  }
  return page
}

type LazyProps<Props> = {
  page: LazyPage<Props>
  props: Props
  /** Of a page, until it says its own. */
  title?: string
  /** What may turn out to show nothing holds no place. */
  isAside?: boolean
}

export function Lazy<Props extends object>({ page, props, title, isAside = false }: LazyProps<Props>) {
  const state = useSignal<'loading' | 'loaded' | 'failed'>(page.loaded === undefined ? 'loading' : 'loaded')
  useEffect(() => {
    if (state.value !== 'loading') return
    let isGone = false
    page.load().then(
      () => {
        if (!isGone) state.value = 'loaded'
      },
      () => {
        if (!isGone) state.value = 'failed'
      },
    )
    return () => {
      isGone = true
    }
  }, [page, state])
  const Content = page.loaded
  if (state.value === 'loaded' && Content !== undefined) return <Content {...props} />
  if (isAside) return null
  if (state.value === 'loading')
    return (
      <>
        {title !== undefined && (
          <div class="heading">
            <h1>{title}</h1>
          </div>
        )}
        <Skeleton rows={8} />
      </>
    )
  return (
    <div class="note note-bad" role="alert">
      <strong>This page could not be loaded.</strong>
      <p>The service does not answer, or it was updated since the console was opened.</p>
      <button type="button" class="small" onClick={() => location.reload()}>
        Reload the console
      </button>
    </div>
  )
}

// The same request elsewhere: a command and programs that can be pasted as they are. The key is written into them only
// where that is wanted.
import { computed, effect, signal } from '@preact/signals'
import { curlText, pythonText, type RequestFacts, typescriptText } from '../explorer/request-text.ts'
import { apiDocument } from '../state/document.ts'
import { keepLanguage, keptLanguage } from '../state/kept-language.ts'
import { askingKey } from '../state/session.ts'
import { CodeView } from './code-view.tsx'
import type { Language } from './highlight.ts'
import { type Tab, Tabs } from './tabs.tsx'

type Request = Omit<RequestFacts, 'key'>

const chosen = signal<boolean | undefined>(undefined)
const known = computed(() => askingKey.value || undefined)
/** The keys of a sandbox open nothing else, so they are written out from the start. */
const isSandbox = computed(() => known.value === 'sandbox' || apiDocument.value?.info['x-sandbox-key'] !== undefined)
const isWithKey = computed(() => chosen.value ?? isSandbox.value)
/** What a snippet has in the place of the key; undefined: the variable of the environment. */
export const snippetKey = computed(() => (isWithKey.value ? known.value : undefined))

const language = signal(keptLanguage())
/** The documentation begins with it too. */
effect(() => {
  if (language.value !== '') keepLanguage(language.value)
})

export function Snippets({ request, more = [] }: { request: Request; more?: readonly Tab[] }) {
  return <Tabs label="Languages" chosen={language} tabs={[...snippetTabs(request), ...more]} />
}

function snippetTabs(request: Request): Tab[] {
  const facts = { ...request, key: snippetKey.value }
  const { method, url, body, accept } = request
  return [
    codeTab('curl', 'curl', {
      text: curlText(url, { method, body, accept, key: snippetKey.value }),
      language: 'shell',
    }),
    codeTab('typescript', 'TypeScript', { text: typescriptText(facts), language: 'typescript' }),
    codeTab('python', 'Python', { text: pythonText(facts), language: 'python' }),
  ]
}

export function codeTab(name: string, title: string, code: { text: string; language: Language }): Tab {
  return {
    name,
    title,
    content: () => (
      <>
        <KeySwitch />
        <CodeView {...code} what={`the ${title} ${name === 'curl' ? 'command' : 'code'}`} />
      </>
    ),
  }
}

function KeySwitch() {
  if (known.value === undefined) return <p class="snippet-key soft">Set ALMANAC_KEY to a key of this service.</p>
  return (
    <div class="snippet-key">
      <label class="check">
        <input
          type="checkbox"
          role="switch"
          aria-checked={isWithKey.value}
          checked={isWithKey.value}
          onChange={event => {
            chosen.value = event.currentTarget.checked
          }}
        />
        With my key
      </label>
      <span class="soft">
        {isWithKey.value ? 'Do not share what you copy.' : 'Takes the key from the variable ALMANAC_KEY.'}
      </span>
    </div>
  )
}

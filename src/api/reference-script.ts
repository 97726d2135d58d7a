// The script of the reference page, as text for the browser. It builds every node itself, so that no answer becomes markup.

export const referenceScript = `'use strict'

function element(tag, attributes, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  node.append(...children)
  return node
}

// Only what the document uses of Markdown: code between backticks.
function prose(text) {
  return text.split('\`').map((part, index) => (index % 2 === 0 ? part : element('code', {}, part)))
}

function json(value) {
  return JSON.stringify(value, null, 2)
}

function resolve(document, node) {
  if (node === undefined || node.$ref === undefined) return node
  return node.$ref.slice(2).split('/').reduce((at, name) => at[name], document)
}

function field(parameter, id) {
  const input = element('input', { id, name: parameter.name, spellcheck: 'false', autocomplete: 'off' })
  const example = Array.isArray(parameter.example) ? parameter.example.join(',') : String(parameter.example)
  if (parameter.required) input.value = example
  else input.placeholder = example
  const kind = parameter.in === 'path' ? 'required' : 'optional'
  return element(
    'div',
    { class: parameter.deprecated ? 'field deprecated' : 'field' },
    element('label', { for: id }, parameter.name),
    input,
    element('small', {}, kind + (parameter.deprecated ? ', deprecated. ' : '. '), ...prose(parameter.description)),
  )
}

function targetOf(path, parameters, form) {
  const valueOf = name => form.elements[name].value.trim()
  const query = new URLSearchParams()
  let target = path
  for (const parameter of parameters) {
    const value = valueOf(parameter.name)
    if (parameter.in === 'path') target = target.replace('{' + parameter.name + '}', encodeURIComponent(value))
    else if (value !== '') query.append(parameter.name, value)
  }
  return query.size === 0 ? target : target + '?' + query
}

async function send(target, key, output) {
  output.replaceChildren(element('p', {}, 'Waiting for ' + target + ' …'))
  const headers = { accept: 'application/json', ...(key === '' ? {} : { 'x-api-key': key }) }
  const curl = 'curl ' + (key === '' ? '' : "-H 'X-API-Key: …' ") + "'" + location.origin + target + "'"
  try {
    const response = await fetch(target, { headers, cache: 'no-store' })
    const text = await response.text()
    const isJson = (response.headers.get('content-type') || '').includes('json')
    const shown = [...response.headers].map(([name, value]) => name + ': ' + value).join('\\n')
    output.replaceChildren(
      element('p', {}, element('b', {}, String(response.status)), ' ' + response.statusText),
      element('pre', {}, curl),
      element('details', {}, element('summary', {}, 'Headers'), element('pre', {}, shown)),
      element('pre', {}, isJson ? json(JSON.parse(text)) : text),
    )
  } catch (error) {
    output.replaceChildren(element('pre', {}, curl), element('p', {}, 'The request failed: ' + error.message))
  }
}

function responses(document, operation) {
  return Object.entries(operation.responses).map(([status, given]) => {
    const response = resolve(document, given)
    const parts = Object.values(response.content || {}).flatMap(content => [
      ...Object.entries(content.examples || {}).flatMap(([name, example]) => [
        element('p', {}, 'Example: ', element('code', {}, name)),
        element('pre', {}, typeof example.value === 'string' ? example.value : json(example.value)),
      ]),
      element('details', {}, element('summary', {}, 'Schema'), element('pre', {}, json(resolve(document, content.schema)))),
    ])
    const headers = Object.entries(response.headers || {}).map(([name, header]) =>
      element('li', {}, element('code', {}, name), ': ', ...prose(header.description)),
    )
    const summary = element('summary', {}, element('b', {}, status), ' ' + response.description)
    return element('details', {}, summary, element('ul', {}, ...headers), ...parts)
  })
}

function section(document, path, operation, keyInput) {
  const parameters = operation.parameters || []
  const output = element('div', { 'aria-live': 'polite' })
  const form = element(
    'form',
    {},
    ...parameters.map(parameter => field(parameter, operation.operationId + '-' + parameter.name)),
    element('button', { type: 'submit' }, 'Send'),
  )
  form.addEventListener('submit', event => {
    event.preventDefault()
    send(targetOf(path, parameters, form), keyInput.value.trim(), output)
  })
  return element(
    'section',
    { id: operation.operationId },
    element('h2', {}, ...prose(operation.summary)),
    element('p', { class: 'path' }, element('code', {}, element('b', {}, 'GET '), path)),
    form,
    output,
    element('h3', {}, 'Answers'),
    ...responses(document, operation),
  )
}

function show(document) {
  const nav = window.document.querySelector('nav')
  const main = window.document.querySelector('main')
  const operations = Object.entries(document.paths).map(([path, { get }]) => [path, get])
  const keyInput = element('input', { id: 'key', type: 'password', autocomplete: 'off', placeholder: 'alm_…' })
  nav.append(element('a', { href: '#' }, document.info.title + ' ' + document.info.version))
  for (const { name } of document.tags) {
    nav.append(element('strong', {}, name))
    for (const [path, operation] of operations) {
      if (operation.tags.includes(name)) {
        nav.append(element('a', { href: '#' + operation.operationId, title: path }, operation.operationId))
      }
    }
  }
  nav.append(element('strong', {}, 'Document'), element('a', { href: '/openapi.json' }, 'openapi.json'))
  main.replaceChildren(
    element('h1', {}, document.info.title),
    ...document.info.description.split('\\n\\n').map(text => element('p', {}, ...prose(text))),
    element('div', { class: 'field' }, element('label', { for: 'key' }, 'X-API-Key'), keyInput,
      element('small', {}, 'Sent with the requests of this page, kept nowhere.')),
    ...operations.map(([path, operation]) => section(document, path, operation, keyInput)),
  )
}

fetch('/openapi.json')
  .then(response => response.json())
  .then(show)
  .catch(error => {
    document.querySelector('main').replaceChildren(element('p', {}, 'The document could not be loaded: ' + error.message))
  })
`

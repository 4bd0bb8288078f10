/** Displays the document; where it may be tried, the page signs requests with the keys of its two fields. */
export function docsScript(mayTry: boolean): string {
  return `${mayTry ? SIGNING : ''}
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  validatorUrl: null,
  ${mayTry ? 'requestInterceptor: signed' : 'supportedSubmitMethods: []'},
});`;
}

/** contract.md 2.2 with WebCrypto. The private key is read from its field, used, and kept nowhere. */
const SIGNING = String.raw`
const text = new TextEncoder();
const given = (id) => document.getElementById(id).value.trim();
if (!isSecureContext)
  document.querySelector('#keys p').textContent =
    'To try requests, open this page over https:// or on the machine itself at 127.0.0.1: elsewhere browsers do not sign.';
async function signed(request) {
  const { origin, pathname } = new URL(request.url, location.href);
  if (origin !== location.origin || !pathname.startsWith('/merchants/v1/')) return request;
  const apiKey = given('api-key');
  const privateKey = given('private-key');
  // Without keys the 401 says which headers are missing.
  if (apiKey === '' || privateKey === '') return request;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const payload = [timestamp, request.method.toUpperCase(), pathname, request.body || ''].join('\n');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', text.encode(privateKey), algorithm, false, ['sign']);
  const digest = new Uint8Array(await crypto.subtle.sign('HMAC', key, text.encode(payload)));
  const signature = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  Object.assign(request.headers, { 'svc-api-key': apiKey, 'svc-timestamp': timestamp, 'svc-signature': signature });
  return request;
}`;

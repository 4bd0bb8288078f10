import { describe, expect, it } from '@jest/globals';
import { acceptCallbackUrl } from './onboarding-page.controller.js';

describe('the callback_url of the onboarding page', () => {
  it.each([['https://shop.example/done?x=1'], ['myapp://onboarded']])('can be %s', (url) => {
    expect(acceptCallbackUrl(url)).toBe(url);
  });

  it.each([
    ['javascript:alert(1)'],
    ['JavaScript:alert(1)'],
    ['\u0001javascript:alert(1)'],
    ['data:text/html,x'],
    ['file:///etc/passwd'],
    ['http://shop.example'],
    ['microsoft-edge:https://evil.example'],
    ['itms-services://?action=download-manifest&url=https://evil.example'],
    ['MS-AppInstaller:?source=https://evil.example'],
    ['https://shop.example@evil.example/'],
    ['https://:secret@shop.example/'],
    ['//shop.example'],
    [''],
  ])('cannot be %j', (url) => {
    expect(acceptCallbackUrl(url)).toBeNull();
  });

  it('can be http://localhost with any port in the sandbox, but no other host over http', () => {
    for (const url of ['http://localhost/', 'http://localhost:3000/done?x=1'])
      expect([acceptCallbackUrl(url), acceptCallbackUrl(url, [], true)]).toEqual([null, url]);
    for (const url of ['http://localhost.evil.example/', 'http://127.0.0.1/', 'http://a@localhost/'])
      expect(acceptCallbackUrl(url, [], true)).toBeNull();
    expect(acceptCallbackUrl('http://localhost:3000/', ['https://shop.example'], true)).toBeNull();
    expect(acceptCallbackUrl('http://localhost:3000/', ['http://localhost:3000'], true)).not.toBeNull();
  });

  const ALLOWED = ['https://shop.example', 'https://xn--bcher-kva.example', 'shopapp:'];

  it.each([
    'https://shop.example',
    'https://SHOP.example:443/done?x=1#y',
    'https://bücher.example/',
    'shopapp://done',
    'ShopApp:/done',
  ])('can be %j if the merchant allows it', (url) => {
    expect(acceptCallbackUrl(url, ALLOWED)).toBe(new URL(url).href);
  });

  it.each([
    'https://shop.example.evil.example/',
    'https://evil.example\\@shop.example/',
    'https://shop.example:8443/',
    'https://shop.example@evil.example/',
    'javascript:alert(1)',
    'http://shop.example',
  ])('cannot be %j if the merchant does not allow it', (url) => {
    expect(acceptCallbackUrl(url, ALLOWED)).toBeNull();
  });
});

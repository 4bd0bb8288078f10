import { describe, expect, it } from '@jest/globals';
import { acceptCallbackUrl } from './callback-url.js';

describe('the callback_url of the widget', () => {
  it.each([['https://shop.example/done?x=1'], ['myapp://onboarded'], ['com.example.app:/done']])(
    'may be %s',
    (url) => {
      expect(acceptCallbackUrl(url)).toBe(url);
    },
  );

  it.each([
    ['javascript:alert(1)'],
    ['JavaScript:alert(1)'],
    [' java\nscript:alert(1)'],
    ['\u0001javascript:alert(1)'],
    ['data:text/html,x'],
    ['vbscript:x'],
    ['file:///etc/passwd'],
    ['blob:https://shop.example/1'],
    ['http://shop.example'],
    ['/done'],
    ['//shop.example'],
    [''],
  ])('may not be %j', (url) => {
    expect(acceptCallbackUrl(url)).toBeNull();
  });
});

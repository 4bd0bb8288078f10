import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { Images } from '../../../src/contexts/onboarding/store/images.js';
import { findChromium } from '../../support/http/browser.js';
import { PageHarness, type Visit } from '../../support/onboarding/page-harness.js';

const suite = findChromium() === null ? describe.skip : describe;
const NO_CAMERA: BrowserContextOptions = { permissions: [] };
const PLACE = 'GPS 52.52N 13.40E';

suite('photos on the onboarding page', () => {
  let harness: PageHarness;
  beforeAll(async () => {
    harness = await PageHarness.start();
  });
  afterAll(() => harness?.close());
  afterEach(() => harness.leave());

  const toPhotos = async (visit: Visit): Promise<void> => {
    const { person } = visit;
    await person.confirmPhone();
    await person.enterDetails();
    await person.choose('documentsPassport');
    await person.press('documentsBegin');
    await person.heading('documentPassport');
  };
  const upload = async (
    { page, person }: Visit,
    name: string,
    buffer: Buffer,
    mimeType = '',
  ): Promise<void> => {
    const chooser = page.waitForEvent('filechooser');
    await person.button('captureUploadOnly').or(person.button('captureUpload')).click();
    await (await chooser).setFiles({ name, buffer, mimeType });
  };

  it('are uploaded where the camera is refused, and nothing but the picture is sent', async () => {
    const visit = await harness.open('es', { options: NO_CAMERA });
    const { person, page } = visit;
    await toPhotos(visit);
    await person.text('cameraRefused').waitFor();
    await person.picturesOf('onboarding-5-camera-refused');
    expect(await person.button('captureTake').count()).toBe(0);
    const photo = withPlace(await jpegOf(page, 3000, 1500));
    expect(photo.includes(PLACE)).toBe(true);
    for (const title of ['documentPassport', 'selfie'] as const) {
      await person.heading(title);
      await upload(visit, 'IMG_1.jpg', photo, 'image/jpeg');
      await person.press('captureUse');
    }
    await person.button('documentsSubmit').waitFor();
    const sent = await harness.app.app.get(Images, { strict: false }).of(visit.user.id);
    expect(sent.map(({ kind }) => kind).sort()).toEqual(['document_front', 'selfie']);
    for (const { bytes: body } of sent) {
      expect(body.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
      expect([body.includes(PLACE), body.includes('Exif')]).toEqual([false, false]);
      expect(sizeOf(body)).toEqual([2000, 1000]);
    }
    await person.press('documentsSubmit');
    await person.heading('doneHeading');
  });

  it('may come from the camera once it is allowed', async () => {
    const visit = await harness.open('de', { options: NO_CAMERA });
    const { person, page } = visit;
    await toPhotos(visit);
    await person.text('cameraRefused').waitFor();
    await page.context().grantPermissions(['camera']);
    await person.press('captureCameraAgain');
    await person.photograph('documentPassport');
    await person.heading('selfie');
  });

  it('can be reviewed and retaken, also when all are complete', async () => {
    const visit = await harness.open('en');
    const { person, page } = visit;
    await toPhotos(visit);
    await page.locator('.outline').waitFor();
    await person.press('captureTake');
    await person.heading('captureCheck');
    // The camera is off.
    expect(await page.locator('video').count()).toBe(0);
    await person.press('captureAgain');
    await person.photograph('documentPassport');
    await person.photograph('selfie');
    await page
      .getByRole('button', { name: `${person.says('documentsRetake')}: ${person.says('selfie')}` })
      .click();
    await person.photograph('selfie');
    await person.press('documentsSubmit');
    await person.heading('doneHeading');
  });

  it('that cannot be used are explained, each case in plain words', async () => {
    const visit = await harness.open('es');
    const { person, page } = visit;
    await toPhotos(visit);
    await upload(visit, 'IMG_2.HEIC', Buffer.from('....ftypheic'));
    await person.text('imageHeic').waitFor();
    await upload(visit, 'scan.pdf', Buffer.from('%PDF-1.7'), 'application/pdf');
    await person.text('imageUnreadable').waitFor();
    await upload(visit, 'tiny.jpg', await jpegOf(page, 150, 150), 'image/jpeg');
    await person.text('imageSmall').waitFor();
    for (const [status, words] of [
      [413, 'imageLarge'],
      [415, 'imageRefused'],
      [422, 'imageRefused'],
    ] as const) {
      await page.route('**/images/*', (route) => route.fulfill({ status, json: { errors: {} } }), {
        times: 1,
      });
      await page.locator('.outline').waitFor();
      await person.press('captureTake');
      await person.press('captureUse');
      await person.text(words).waitFor();
      await person.heading('documentPassport');
    }
  });

  it.each([
    [
      'cameraBusy',
      true,
      "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotReadableError'))",
    ],
    [
      'cameraNone',
      true,
      "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotFoundError'))",
    ],
    ['cameraUnknown', true, 'navigator.mediaDevices.getUserMedia = () => Promise.reject(new TypeError())'],
    ['cameraInsecure', false, "Object.defineProperty(window, 'isSecureContext', { value: false })"],
  ] as const)('without a camera are explained: %s', async (words, mayTryAgain, script) => {
    const visit = await harness.open('de', { before: (page) => page.addInitScript(script) });
    const { person } = visit;
    await toPhotos(visit);
    await person.text(words).waitFor();
    expect(await person.button('captureCameraAgain').count()).toBe(mayTryAgain ? 1 : 0);
    await person.button('captureUploadOnly').waitFor();
  });
});

/** A JPEG that the browser makes, with something to see on it. */
async function jpegOf(page: Page, width: number, height: number): Promise<Buffer> {
  const url = await page.evaluate<string>(`{
    const canvas = Object.assign(document.createElement('canvas'), { width: ${width}, height: ${height} });
    const pen = canvas.getContext('2d');
    pen.fillStyle = '#c0ffee';
    pen.fillRect(0, 0, ${width}, ${height});
    pen.strokeRect(20, 20, ${width} - 40, ${height} - 40);
    canvas.toDataURL('image/jpeg');
  }`);
  return Buffer.from(url.split(',')[1]!, 'base64');
}

/** With what a phone writes into its photos. */
function withPlace(jpeg: Buffer): Buffer {
  const exif = Buffer.from(`Exif\0\0${PLACE}`);
  const head = Buffer.from([0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([jpeg.subarray(0, 2), head, exif, jpeg.subarray(2)]);
}

function sizeOf(jpeg: Buffer): [width: number, height: number] {
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]));
  return [jpeg.readUInt16BE(frame + 7), jpeg.readUInt16BE(frame + 5)];
}

import type { Messages } from '../../src/contexts/onboarding/words/messages.js';

const MAX_SIDE = 2000;
/** The minimum in pixels, as on the server. */
const MIN_SIDE = 200;
const QUALITY = 0.88;

export type ImageTrouble = Extract<keyof Messages, `image${string}`>;

/** A photo on a canvas in the size of the upload, without metadata of the file (location, device, owner). */
export type Photo = HTMLCanvasElement;

export function photoOfVideo(video: HTMLVideoElement): Photo {
  return draw(video, video.videoWidth, video.videoHeight);
}

export async function photoOfFile(file: File): Promise<Photo | ImageTrouble> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(file, { imageOrientation: 'from-image' });
  } catch {
    return /\.hei[cf]$/i.test(file.name) || /^image\/hei[cf]/.test(file.type)
      ? 'imageHeic'
      : 'imageUnreadable';
  }
  const { width, height } = bitmap;
  const photo = Math.min(width, height) < MIN_SIDE ? 'imageSmall' : draw(bitmap, width, height);
  bitmap.close();
  return photo;
}

export function jpegOf(photo: Photo): Promise<Blob> {
  return new Promise((resolve, reject) => {
    const encoded = (blob: Blob | null): void =>
      blob === null ? reject(new Error('the photo could not be encoded')) : resolve(blob);
    photo.toBlob(encoded, 'image/jpeg', QUALITY);
  });
}

export function samplePhoto(title: string): Photo {
  const canvas = sized(1200, 760);
  const pen = canvas.getContext('2d')!;
  pen.fillStyle = '#dfe6f5';
  pen.fillRect(0, 0, 1200, 760);
  pen.fillStyle = '#ffffff';
  pen.fillRect(80, 80, 1040, 600);
  pen.fillStyle = '#8fa3cf';
  pen.beginPath();
  pen.arc(300, 330, 90, 0, 2 * Math.PI);
  pen.arc(300, 600, 170, Math.PI, 2 * Math.PI);
  pen.fill();
  pen.fillStyle = '#33406b';
  pen.font = 'bold 72px sans-serif';
  pen.fillText('SAMPLE', 560, 300, 500);
  pen.font = '40px sans-serif';
  pen.fillText(title, 560, 380, 500);
  return canvas;
}

function draw(source: CanvasImageSource, width: number, height: number): Photo {
  const scale = Math.min(1, MAX_SIDE / Math.max(width, height));
  const canvas = sized(Math.round(width * scale), Math.round(height * scale));
  const pen = canvas.getContext('2d')!;
  // The transparent parts of a PNG would be black in a JPEG.
  pen.fillStyle = '#fff';
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(source, 0, 0, canvas.width, canvas.height);
  return canvas;
}

function sized(width: number, height: number): Photo {
  const canvas = document.createElement('canvas');
  return Object.assign(canvas, { width, height });
}

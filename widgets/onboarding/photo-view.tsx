import { useEffect, useRef } from 'preact/hooks';
import type { Photo } from './image.js';

/** Shows a photo as it is sent. */
export function PhotoView({ photo, label, width }: { photo: Photo; label: string; width: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const shown = canvas.current!;
    shown.width = Math.min(width, photo.width);
    shown.height = Math.round((shown.width * photo.height) / photo.width);
    shown.getContext('2d')!.drawImage(photo, 0, 0, shown.width, shown.height);
  }, [photo, width]);
  return <canvas ref={canvas} role="img" aria-label={label} />;
}

import { useEffect, useRef } from 'preact/hooks';
import type { Photo } from './image.js';

/** Shows a photo as it is sent. */
export function PhotoView({ photo, label, width }: { photo: Photo; label: string; width: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const view = canvas.current!;
    view.width = Math.min(width, photo.width);
    view.height = Math.round((view.width * photo.height) / photo.width);
    view.getContext('2d')!.drawImage(photo, 0, 0, view.width, view.height);
  }, [photo, width]);
  return <canvas ref={canvas} role="img" aria-label={label} />;
}

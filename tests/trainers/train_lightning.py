"""Lightning under DDP: its ModelCheckpoint keeps the place of the loader."""
import os

import common
import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = common.model()

    def train_dataloader(self):
        return common.open_loader(restart=True)

    def on_train_start(self):
        self.diary = common.Diary(self.global_rank, self.trainer.world_size)

    def training_step(self, batch, batch_idx):
        self.diary.step(batch)
        return common.loss_of(self.net, batch)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


place = os.path.join(common.FOLDER, "last.ckpt")
keep = ModelCheckpoint(dirpath=common.FOLDER, every_n_train_steps=1, save_last=True, save_top_k=1)
trainer = lightning.Trainer(accelerator="cpu", devices=int(os.environ["LOCAL_WORLD_SIZE"]), strategy="ddp", logger=False,
                            max_epochs=common.SWEEPS, callbacks=[keep], enable_progress_bar=False, enable_model_summary=False)
trainer.fit(Model(), ckpt_path=place if os.path.exists(place) else None)

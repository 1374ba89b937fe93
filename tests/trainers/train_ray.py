"""Ray Train: a run of the same name continues from the last reported checkpoint."""
import json
import os
import sys
import tempfile

import ray
import ray.train
import ray.train.torch

WORLD, FOLDER = int(sys.argv.pop()), sys.argv[2]


def train(arguments):
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(arguments[0]))
    import common
    import torch

    context = ray.train.get_context()
    loader, net = common.open_loader(), ray.train.torch.prepare_model(common.model())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    checkpoint = ray.train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as folder:
            loader.load_state_dict(torch.load(os.path.join(folder, "loader.pt")))
    diary = common.Diary(context.get_world_rank(), context.get_world_size())
    while json.loads(loader.state_dict()["position"])["epoch"] < common.SWEEPS:
        for batch in loader:
            diary.step(batch)
            common.loss_of(net, batch).backward()
            optimizer.step()
            optimizer.zero_grad()
            with tempfile.TemporaryDirectory() as folder:
                torch.save(loader.state_dict(), os.path.join(folder, "loader.pt"))
                mine = ray.train.Checkpoint.from_directory(folder) if context.get_world_rank() == 0 else None
                ray.train.report({}, checkpoint=mine)


ray.init(num_cpus=WORLD + 1, include_dashboard=False)
ray.train.torch.TorchTrainer(
    train, train_loop_config=[os.path.abspath(sys.argv[0]), *sys.argv[1:]],
    scaling_config=ray.train.ScalingConfig(num_workers=WORLD, resources_per_worker={"CPU": 1}),
    run_config=ray.train.RunConfig(name="run", storage_path=os.path.join(FOLDER, "ray"))).fit()
